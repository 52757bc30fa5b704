const minute = 60_000
const quarter = 15 * minute
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

/** The allowances of an action. */
interface Rule {
  readonly allowances: readonly Allowance[]
  /** For known devices. By default the same. */
  readonly fromDevice?: readonly Allowance[]
}

/** The rules of all actions. docs/security-model.md, "Rate limits", has the same figures. */
const table = {
  password: {
    allowances: [
      { by: ['account', 'network'], limit: 10, within: quarter, counts: ['failure'] },
      { by: ['network'], limit: 50, within: quarter, counts: ['failure'] },
      { by: ['account'], limit: 100, within: day, counts: ['failure'] },
      { by: ['account'], limit: 100, within: quarter, counts: ['success'] },
    ],
    fromDevice: [
      { by: ['account', 'device'], limit: 10, within: quarter, counts: ['failure'] },
      { by: ['account', 'device'], limit: 100, within: day, counts: ['failure'] },
      { by: ['account', 'device'], limit: 100, within: quarter, counts: ['success'] },
    ],
  },
  // Codes of second factors. A code also counts as a password.
  code: {
    allowances: [{ by: ['account'], limit: 20, within: day, counts: ['failure'] }],
    fromDevice: [{ by: ['account', 'device'], limit: 20, within: day, counts: ['failure'] }],
  },
  // Passkeys that sign in or confirm.
  passkey: { allowances: [{ by: ['network'], limit: 50, within: quarter, counts: ['failure'] }] },
  // Accepted passkeys of an account, and attempts to add a passkey. A program could otherwise send them without a limit.
  'passkey-of-account': everyAttempt('account', 100, quarter),
  'sign-up': everyAttempt('network', 50, quarter),
  token: everyAttempt('account', 100, quarter),
  // New passwords by reset links.
  reset: everyAttempt('account', 10, quarter),
  // Mails requested from a network.
  mail: everyAttempt('network', 20, hour),
  // Mails to an address, with or without an account.
  mailbox: everyAttempt('account', 5, hour),
  // Requests to change to an address. A lower limit than `mailbox`, so that they cannot block the owner's reset links.
  'new-address': everyAttempt('account', 3, hour),
  // Changes of the address of an account, which mail to addresses of its choice.
  'address-change': everyAttempt('account', 10, day),
  // Notices of one event to an account.
  notice: everyAttempt('account', 10, hour),
} satisfies Record<string, Rule>

/** An action with a rule. */
export type Action = keyof typeof table

export const rules: Readonly<Record<Action, Rule>> = table

function everyAttempt(by: Column, limit: number, within: number): Rule {
  return { allowances: [{ by: [by], limit, within, counts: ['failure', 'success'] }] }
}
