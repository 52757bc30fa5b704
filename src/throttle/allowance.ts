import type { Column } from './key.ts'

const minute = 60_000
const quarter = 15 * minute

/** The longest that anything counts, in milliseconds. */
export const day = 24 * 60 * minute

/** What is counted. */
export type Action = 'password' | 'sign-up' | 'token'

/** So many in so many milliseconds, counted by these columns. */
export interface Allowance {
  readonly by: readonly Column[]
  readonly most: number
  readonly within: number
}

/** The allowances for an action. */
export interface Rule {
  readonly allowances: readonly Allowance[]
  /** Where somebody comes from a device that the account knows. */
  readonly fromDevice: readonly Allowance[]
  /** Whether what succeeded counts too. */
  readonly countsSuccess: boolean
}

/** SECURITY.md, "Guessing", says the same in words. */
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
