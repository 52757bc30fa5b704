const minute = 60_000
const quarterHour = 15 * minute
const hour = 60 * minute
const day = 24 * hour

/** A property by which attempts are counted. */
export type Column = 'account' | 'network' | 'device'

/** How an attempt ended. */
export type Outcome = 'failure' | 'success'

/** A rate limit: at most `limit` attempts in `within` milliseconds for each value of the columns `by`. */
export interface Allowance {
  readonly by: readonly Column[]
  readonly limit: number
  readonly within: number
  /** The outcomes that count. */
  readonly counts: readonly Outcome[]
}

interface Rule {
  readonly allowances: readonly Allowance[]
  /** The allowances for known devices. By default `allowances`. */
  readonly fromDevice?: readonly Allowance[]
}

/** The rules of all actions. docs/security-model.md, "Rate limits", has the same figures. */
const table = {
  password: {
    allowances: [
      { by: ['account', 'network'], limit: 10, within: quarterHour, counts: ['failure'] },
      { by: ['network'], limit: 50, within: quarterHour, counts: ['failure'] },
      { by: ['account'], limit: 100, within: day, counts: ['failure'] },
      { by: ['account'], limit: 100, within: quarterHour, counts: ['success'] },
    ],
    fromDevice: [
      { by: ['account', 'device'], limit: 10, within: quarterHour, counts: ['failure'] },
      { by: ['account', 'device'], limit: 100, within: day, counts: ['failure'] },
      { by: ['account', 'device'], limit: 100, within: quarterHour, counts: ['success'] },
    ],
  },
  // Codes of second factors. A wrong code also counts as a wrong password.
  code: {
    allowances: [{ by: ['account'], limit: 20, within: day, counts: ['failure'] }],
    fromDevice: [{ by: ['account', 'device'], limit: 20, within: day, counts: ['failure'] }],
  },
  // Sign-ins and confirmations with a passkey.
  passkey: { allowances: [{ by: ['network'], limit: 50, within: quarterHour, counts: ['failure'] }] },
  // Successful sign-ins and confirmations with a passkey of the account, and attempts to add a passkey. A program could otherwise
  // repeat them without a limit.
  'passkey-of-account': everyAttempt('account', 100, quarterHour),
  'sign-up': everyAttempt('network', 50, quarterHour),
  token: everyAttempt('account', 100, quarterHour),
  // New passwords by reset links.
  reset: everyAttempt('account', 10, quarterHour),
  // Mails requested from a network.
  mail: everyAttempt('network', 20, hour),
  // Mails of one kind to an address, with or without an account.
  mailbox: everyAttempt('account', 5, hour),
  // Requests of an account to change its address. Each request mails to an address that the user chooses.
  'address-change': everyAttempt('account', 10, day),
  // Notices of one kind of event to an account.
  notice: everyAttempt('account', 10, hour),
} satisfies Record<string, Rule>

export type Action = keyof typeof table

export const rules: Readonly<Record<Action, Rule>> = table

function everyAttempt(by: Column, limit: number, within: number): Rule {
  return { allowances: [{ by: [by], limit, within, counts: ['failure', 'success'] }] }
}
