import type { NoticeData } from './notices.ts'
import { notices } from './notices.ts'

/**
 * The kinds of mail, with the data of each. The outbox stores the data, so the data contains no secret.
 * The templates are `views/mail/<kind>.txt.eta` and `<kind>.html.eta`.
 */
export interface Mails {
  /** An operator has created the account: a link to choose the first password. */
  invite: undefined
  /** A link to choose a new password. */
  reset: undefined
  /** A link that verifies the address of an account. */
  verify: undefined
  /** A link, sent to the new address, that changes the address of an account. */
  'change-email': undefined
  /** For the owner of an address, after another account has requested a change to this address. */
  'address-taken': undefined
  /** A security event of the account. It contains no secret, and no link that signs in. */
  notice: NoticeData
}

export type MailKind = keyof Mails

const linkKinds = ['invite', 'reset', 'verify', 'change-email'] as const

/** The kinds with a one-time link. The outbox creates the link when it sends the mail. */
export type LinkKind = (typeof linkKinds)[number]

/** The subject of each kind. `MailTemplates` adds “at” and the name of the site. */
export const subjects: { readonly [Kind in MailKind]: (data: Mails[Kind]) => string } = {
  invite: () => 'Choose the password of your account',
  reset: () => 'Choose a new password',
  verify: () => 'Confirm your e-mail address',
  'change-email': () => 'Confirm your new e-mail address',
  'address-taken': () => 'You already have an account',
  notice: ({ event }) => notices[event].subject,
}

export function hasLink(kind: MailKind): boolean {
  return linkKinds.some((each) => each === kind)
}
