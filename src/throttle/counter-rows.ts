import { defineEntity, p } from '@mikro-orm/core'
import type { Action, Allowance } from './allowance.ts'
import { counterOf, type Key } from './key.ts'

const AttemptCountSchema = defineEntity({
  name: 'AttemptCount',
  tableName: 'attempts',
  indexes: [
    { name: 'attempts_counter_index', properties: ['counter'] },
    { name: 'attempts_expires_at_index', properties: ['expiresAt'] },
    { name: 'attempts_at_index', properties: ['at'] },
  ],
  properties: {
    // The counter and the number of the slice.
    id: p.string().length(40).primary(),
    // A digest of the action, the allowance, and the values of its columns `by`.
    counter: p.string().length(22),
    // A digest of the account, to delete its counters. Null for a counter by one column.
    account: p.string().length(22).nullable(),
    // The time of the latest attempt, in milliseconds since 1970.
    at: p.bigint('number'),
    expiresAt: p.bigint('number'),
    used: p.integer(),
    // Attempts under evaluation. They count toward the limit too.
    running: p.integer(),
  },
})

/** The attempts of a counter in one slice of its window. */
export class AttemptCount extends AttemptCountSchema.class {}

AttemptCountSchema.setClass(AttemptCount)

// In milliseconds. The attempt of a longer evaluation counts as used, because its process may have crashed.
const longestEvaluation = 30_000
// Each slice of a window has a row, which counts until its latest attempt leaves the window.
const slices = 5

/** The allowances that an attempt uses. */
export interface Quota {
  readonly action: Action
  readonly key: Key
  readonly allowances: readonly Allowance[]
}

/** The row of a counter for the current slice of its window. */
export interface CounterRow {
  readonly id: string
  readonly counter: string
  readonly account: string | null
  readonly allowance: Allowance
}

/** The attempts of a counter in one slice of its window. */
export interface Slice {
  readonly counter: string
  readonly at: number | string
  readonly used: number
  readonly running: number
}

/** The rows that count an attempt now. */
export function rowsOf({ action, key, allowances }: Quota, now: number): readonly CounterRow[] {
  return allowances.map((allowance) => {
    const counter = counterOf(action, allowance, key)
    const slice = Math.floor(now / (allowance.within / slices))
    const account = allowance.by.length > 1 ? key.account : null
    return { id: `${counter}.${slice}`, counter, account, allowance }
  })
}

/**
 * The milliseconds until finished attempts no longer use up the allowance of a row. Running evaluations count only after
 * `longestEvaluation`, because they may still end without a count. The slices are sorted, newest first.
 */
export function retryAfter(slices: readonly Slice[], row: CounterRow, now: number): number {
  const { limit, within } = row.allowance
  let count = 0
  for (const { counter, at, used, running } of slices) {
    if (counter !== row.counter || Number(at) <= now - within) continue
    count += used + (Number(at) > now - longestEvaluation ? 0 : running)
    if (count >= limit) return Math.min(Number(at) + within - now, within)
  }
  return 0
}
