import { day, hour, minute } from '../durations.ts'

const quarterHour = 15 * minute

/** No allowance has a longer window. */
export const longestWindow = day

/** A property by which attempts are counted. A block is a network of networks: an IPv6 /48 or an IPv4 /24. */
export type Column = 'account' | 'network' | 'block' | 'device'

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
      ...fromNetwork(50, quarterHour, ['failure']),
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
  passkey: { allowances: fromNetwork(50, quarterHour, ['failure']) },
  // Successful sign-ins and confirmations with a passkey of the account, and attempts to add a passkey. A program could otherwise
  // repeat them without a limit.
  'passkey-of-account': ofAccount(100, quarterHour),
  // Flows to identity providers. Each writes a row, and its answer causes requests to the provider.
  provider: { allowances: fromNetwork(50, quarterHour, ['failure', 'success']) },
  // Sign-ups, also with the address of another account.
  'sign-up': { allowances: fromNetwork(50, quarterHour, ['failure', 'success']) },
  // Changes of an account by its owner: all requests to the account pages that may write.
  change: ofAccount(200, quarterHour),
  token: ofAccount(100, quarterHour),
  // New passwords by reset links.
  reset: ofAccount(10, quarterHour),
  // Mails requested from a network.
  mail: { allowances: fromNetwork(20, hour, ['failure', 'success']) },
  // Mails of one kind to an address, with or without an account.
  mailbox: ofAccount(5, hour),
  // Requests of an account to change its address. Each request mails to an address that the user chooses.
  'address-change': ofAccount(10, day),
  // Notices of one kind of event to an account.
  notice: ofAccount(10, hour),
} satisfies Record<string, Rule>

export type Action = keyof typeof table

export const rules: Readonly<Record<Action, Rule>> = table

function ofAccount(limit: number, within: number): Rule {
  return { allowances: [{ by: ['account'], limit, within, counts: ['failure', 'success'] }] }
}

// A block has twice the limit of a network. Without it, the networks of one block could fill the table.
function fromNetwork(limit: number, within: number, counts: readonly Outcome[]): readonly Allowance[] {
  return [
    { by: ['network'], limit, within, counts },
    { by: ['block'], limit: 2 * limit, within, counts },
  ]
}
