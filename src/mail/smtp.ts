import { Socket } from 'node:net'
import type { NodemailerError } from 'nodemailer'
import type { Mailbox, MailServer } from '../config/mail.ts'
import { compose, type Deliver, DeliveryError, domainOf } from './message.ts'

/** Delivers by SMTP, with a connection for each mail. Never sends without TLS, except to the same machine. */
export function smtp({ host, port, security, credentials }: MailServer, from: Mailbox): Deliver {
  const options = {
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    // On the same machine there is no network to protect, and certificates are usually self-signed.
    tls: { rejectUnauthorized: security !== 'loopback' },
    name: domainOf(from),
    ...(credentials && { auth: { user: credentials.user, pass: credentials.password }, forceAuth: true }),
    // In milliseconds. `socketTimeout` only limits the time without data. The caller's signal limits the whole attempt.
    dnsTimeout: 5_000,
    connectionTimeout: 5_000,
    greetingTimeout: 5_000,
    socketTimeout: 10_000,
  }
  return async (message, signal) => {
    // Loaded with the first mail, because nodemailer would cost time and memory at the start.
    const { createTransport } = await import('nodemailer')
    // nodemailer has no way to abort, but closing its socket ends the attempt.
    const socket = new Socket()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const abort = () => reject(new DeliveryError('ETIMEDOUT'))
    signal.addEventListener('abort', abort)
    try {
      if (signal.aborted) throw new DeliveryError('ETIMEDOUT')
      const sent = createTransport({ ...options, socket }).sendMail(compose(message, from))
      await Promise.race([sent, aborted])
      return {}
    } catch (error) {
      socket.destroy()
      throw error instanceof DeliveryError ? error : deliveryError(error)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }
}

/** Removes nodemailer's error message, because it contains the reply of the server. */
function deliveryError(error: unknown): DeliveryError {
  const { code = 'EUNKNOWN', responseCode = 0, response = '', command = '' } = error as NodemailerError
  const isAboutMail = /^(RCPT TO|DATA)/.test(command) && !isOperatorsMistake.test(response)
  return new DeliveryError(code, {
    responseCode: responseCode || undefined,
    isFinal: isAboutMail && responseCode >= 500,
  })
}

// Replies that a change of the configuration cures: no TLS or sign-in (RFC 4954 §6), and an enhanced status code (RFC 3463) for the
// address of the sender or for a policy of the server. Many servers refuse a sender only in the reply to RCPT TO.
const isOperatorsMistake = /^(530|534|535|538)|^5\d\d[ -]5\.(1\.[78]|7\.\d+)\b/
