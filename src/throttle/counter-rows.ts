import type { Action, Allowance } from './allowance.ts'
import { counterOf, type Key } from './key.ts'

// An evaluation that takes longer, or whose process died, counts as failed. In milliseconds.
const longestEvaluation = 30_000
// A counter has one row for each slice of its window, which counts until its latest attempt leaves the window.
const slices = 5

/** The allowances that an attempt needs a place in. */
export interface Wanted {
  readonly action: Action
  readonly key: Key
  readonly allowances: readonly Allowance[]
}

/** A place in each of the wanted allowances: the rows that count it. */
export type Place = readonly CounterRow[]

/** The row of a counter for the current slice of its window. */
export interface CounterRow {
  readonly id: string
  readonly counter: string
  readonly account: string | null
  readonly allowance: Allowance
}

/** What a counter saw in one slice of its window. */
export interface Slice {
  readonly counter: string
  readonly at: number | string
  readonly used: number
  readonly running: number
}

/** The rows that count an attempt now. */
export function rowsOf({ action, key, allowances }: Wanted, now: number): Place {
  return allowances.map((allowance) => {
    const counter = counterOf(action, allowance, key)
    const slice = Math.floor(now / (allowance.within / slices))
    const account = allowance.by.length > 1 ? key.account : null
    return { id: `${counter}.${slice}`, counter, account, allowance }
  })
}

/** How many milliseconds until enough slices, newest first, have left the window; 0 if the allowance is not used up. */
export function waitFor(slices: readonly Slice[], { most, within }: Allowance, now: number): number {
  let count = 0
  for (const { at, used, running } of slices) {
    count += used + (Number(at) > now - longestEvaluation ? 0 : running)
    if (count >= most) return Math.min(Number(at) + within - now, within)
  }
  return 0
}
