const minute = 60_000
const quarter = 15 * minute
const hour = 60 * minute
const day = 24 * hour

/** A property by which attempts are counted. */
export type Column = 'account' | 'network' | 'device'

/** An action with an allowance. */
export type Action =
  | 'password'
  | 'code'
  | 'passkey'
  | 'own-passkey'
  | 'sign-up'
  | 'token'
  | 'reset'
  | 'mail'
  | 'mailbox'
  | 'new-address'
  | 'address-change'
  | 'notice'

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

/** The allowances of attempts from unknown and from known devices. docs/security-model.md, "Rate limits", has the same figures. */
export const rules: Record<Action, Record<'allowances' | 'fromDevice', readonly Allowance[]>> = {
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
  passkey: {
    allowances: [{ by: ['network'], limit: 50, within: quarter, counts: ['failure'] }],
    fromDevice: [],
  },
  // Accepted passkeys of an account, and attempts to add a passkey. A program could otherwise send them without a limit.
  'own-passkey': {
    allowances: [{ by: ['account'], limit: 100, within: quarter, counts: ['failure', 'success'] }],
    fromDevice: [],
  },
  'sign-up': {
    allowances: [{ by: ['network'], limit: 50, within: quarter, counts: ['failure', 'success'] }],
    fromDevice: [],
  },
  token: {
    allowances: [{ by: ['account'], limit: 100, within: quarter, counts: ['failure', 'success'] }],
    fromDevice: [],
  },
  // New passwords by reset links.
  reset: {
    allowances: [{ by: ['account'], limit: 10, within: quarter, counts: ['failure', 'success'] }],
    fromDevice: [],
  },
  // Mails requested from a network.
  mail: {
    allowances: [{ by: ['network'], limit: 20, within: hour, counts: ['failure', 'success'] }],
    fromDevice: [],
  },
  // Mails to an address, with or without an account.
  mailbox: {
    allowances: [{ by: ['account'], limit: 5, within: hour, counts: ['failure', 'success'] }],
    fromDevice: [],
  },
  // Requests to change to an address. A lower limit than `mailbox`, so that they cannot block the owner's reset links.
  'new-address': {
    allowances: [{ by: ['account'], limit: 3, within: hour, counts: ['failure', 'success'] }],
    fromDevice: [],
  },
  // Changes of the address of an account, which mail to addresses of its choice.
  'address-change': {
    allowances: [{ by: ['account'], limit: 10, within: day, counts: ['failure', 'success'] }],
    fromDevice: [],
  },
  // Notices of one event to an account.
  notice: {
    allowances: [{ by: ['account'], limit: 10, within: hour, counts: ['failure', 'success'] }],
    fromDevice: [],
  },
}
