import { domainToASCII } from 'node:url'
import type { SendMailOptions } from 'nodemailer'
import type { Mailbox } from '../config/mail.ts'
import { emailProblem } from '../users/email.ts'

/**
 * The data of each kind of mail. The outbox stores it, so it contains no secret. A feature adds its kinds:
 * `declare module '../../mail/message.ts' { interface Mails { … } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: features add the members
export interface Mails {}

export interface Message {
  /** Unique for each attempt, because a receiver may drop a second mail with the same id. Becomes the `Message-ID`. */
  readonly id: string
  readonly kind: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The link with a token, which is also in the text. */
  readonly link?: string | undefined
}

/**
 * Delivers a message. An abort ends an SMTP connection.
 * @returns fields for the log
 * @throws {Error} if the message was not delivered, or if the result is unknown. Over SMTP, it is a `DeliveryError`
 */
export type Deliver = (message: Message, signal: AbortSignal) => Promise<object>

/** A mail was not delivered, or the result is unknown. The error contains no address and no text of the mail server. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError'
  readonly code: string
  /** The reply of the mail server (RFC 5321 §4.2). */
  readonly responseCode: number | undefined
  /** Whether a further attempt is useless, for example because the server has refused the recipient or the content with a 5xx. */
  readonly isFinal: boolean

  constructor(
    code: string,
    { responseCode, isFinal = false }: { responseCode?: number | undefined; isFinal?: boolean } = {},
  ) {
    super(`The mail was not delivered: ${code} ${responseCode ?? ''}`.trim())
    this.code = code
    this.responseCode = responseCode
    this.isFinal = isFinal
  }
}

export function compose({ id, to, subject, text, html }: Message, from: Mailbox): SendMailOptions {
  // Rejects a text with a comma, which nodemailer would parse as two recipients.
  if (emailProblem(to)) throw new DeliveryError('ERECIPIENT', { isFinal: true })
  return {
    from,
    to: { name: '', address: to },
    envelope: { from: from.address, to: [to] },
    messageId: `<${id}@${domainOf(from)}>`,
    subject,
    text,
    html,
    // Some mail programs do not join the lines of a link that quoted-printable has cut.
    textEncoding: 'base64',
    // Asks other mail systems not to reply automatically (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

export function domainOf({ address }: Mailbox): string {
  return domainToASCII(address.slice(address.lastIndexOf('@') + 1)) || 'localhost'
}
