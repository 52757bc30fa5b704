const minute = 60_000
const quarter = 15 * minute

/** The longest window of an allowance, in milliseconds. */
export const day = 24 * 60 * minute

/** A value that attempts are counted by. */
export type Column = 'account' | 'network' | 'device'

/** An action with an allowance. */
export type Action = 'password' | 'sign-up' | 'token'

/** How an attempt ended. */
export type Outcome = 'failure' | 'success'

/** How many attempts are allowed in a window of so many milliseconds, counted by these columns. */
export interface Allowance {
  readonly by: readonly Column[]
  readonly most: number
  readonly within: number
  /** The attempts that count, by how they ended. */
  readonly counts: readonly Outcome[]
}

/** The allowances of an action. */
export interface Rule {
  /** Of attempts from a device that the account does not know. */
  readonly allowances: readonly Allowance[]
  /** Of attempts from a known device. */
  readonly fromDevice: readonly Allowance[]
}

const failure = ['failure'] as const
const success = ['success'] as const
const both = ['failure', 'success'] as const

/** SECURITY.md, "Guessing", lists the same figures. */
export const rules: Record<Action, Rule> = {
  password: {
    allowances: [
      { by: ['account', 'network'], most: 10, within: quarter, counts: failure },
      { by: ['network'], most: 50, within: quarter, counts: failure },
      { by: ['account'], most: 100, within: day, counts: failure },
      { by: ['account'], most: 100, within: quarter, counts: success },
    ],
    fromDevice: [
      { by: ['account', 'device'], most: 10, within: quarter, counts: failure },
      { by: ['account', 'device'], most: 100, within: day, counts: failure },
      { by: ['account', 'device'], most: 100, within: quarter, counts: success },
    ],
  },
  'sign-up': {
    allowances: [{ by: ['network'], most: 50, within: quarter, counts: both }],
    fromDevice: [],
  },
  token: {
    allowances: [{ by: ['account'], most: 100, within: quarter, counts: both }],
    fromDevice: [],
  },
}
