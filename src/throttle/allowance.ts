import type { Column } from './key.ts'

const minute = 60_000
const quarter = 15 * minute

/** The longest window of an allowance, in milliseconds. */
export const day = 24 * 60 * minute

/** An action with an allowance. */
export type Action = 'password' | 'sign-up' | 'token'

/** How many attempts are allowed in a window of so many milliseconds, counted by these columns. */
export interface Allowance {
  readonly by: readonly Column[]
  readonly most: number
  readonly within: number
}

/** The allowances of an action. */
export interface Rule {
  /** Of attempts from a device that the account does not know. */
  readonly allowances: readonly Allowance[]
  /** Of attempts from a known device. */
  readonly fromDevice: readonly Allowance[]
  /** Whether successful attempts count. Failed ones always do. */
  readonly countsSuccess: boolean
}

/** SECURITY.md, "Guessing", lists the same figures. */
export const rules: Record<Action, Rule> = {
  password: {
    allowances: [
      { by: ['account', 'network'], most: 10, within: quarter },
      { by: ['network'], most: 50, within: quarter },
      { by: ['account'], most: 100, within: day },
    ],
    fromDevice: [
      { by: ['account', 'device'], most: 10, within: quarter },
      { by: ['account', 'device'], most: 100, within: day },
    ],
    countsSuccess: false,
  },
  'sign-up': {
    allowances: [{ by: ['network'], most: 50, within: quarter }],
    fromDevice: [],
    countsSuccess: true,
  },
  token: {
    allowances: [{ by: ['account'], most: 100, within: quarter }],
    fromDevice: [],
    countsSuccess: true,
  },
}
