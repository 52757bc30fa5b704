import { hash } from 'node:crypto'
import { clockSkew } from '../durations.ts'
import type { Action, Allowance, Column } from './allowance.ts'
import type { AttemptCount } from './attempt-count.ts'

// In milliseconds. The attempt of a longer evaluation counts as used, because its process may have crashed.
const longestEvaluation = 30_000

/** The values by which an attempt is counted. */
export type Values = Readonly<Record<Column, string | undefined>>

/**
 * Counts the attempts of an allowance. Each half of its window has a row, which counts until its latest attempt leaves the
 * window. So an attempt counts for one to one and a half windows.
 */
export interface Counter {
  readonly allowance: Allowance
  /** The exact name, and the name that the counter shares with others. */
  readonly names: readonly [string, string]
  /** The row for a new attempt. */
  readonly id: string
  /** The rows that may count now, by both names. */
  readonly ids: readonly string[]
  /** The latest `expiresAt` that counts. A wrong clock has written a later one. */
  readonly latest: number
}

/**
 * The counters of an attempt.
 * @param isFull whether the table is full. New attempts then use the shared names, so that the table is bounded without
 *   refusing anyone. Attempts by both names always count
 */
export function countersOf(
  { action, allowances, values }: { action: Action; allowances: readonly Allowance[]; values: Values },
  { now, isFull }: { now: number; isFull: boolean },
): readonly Counter[] {
  return allowances.map((allowance) => {
    const { by, within, counts } = allowance
    const kind = `${action} ${within} ${counts} ${by}`
    const own = by.map((column) => values[column])
    const all = JSON.stringify(own)
    const names = [`${prefixOf(own[0])}${digestOf(`${kind} ${all}`)}`, sharedName(kind, all)] as const
    const half = Math.floor(now / (within / 2))
    // The next half is that of a clock that is ahead.
    const halves = [half + 1, half, half - 1, half - 2]
    return {
      allowance,
      names,
      id: `${names[isFull ? 1 : 0]}.${half}`,
      ids: names.flatMap((name) => halves.map((each) => `${name}.${each}`)),
      latest: now + within + clockSkew,
    }
  })
}

/** How the names of counters begin that count by a value first, such as an account. */
export function prefixOf(value = ''): string {
  return `${digestOf(value)}.`
}

/** One of 65,536 names for each kind of counter. */
function sharedName(kind: string, values: string): string {
  return `${digestOf(kind)}:${hash('sha256', values).slice(0, 4)}`
}

/** The first 90 bits of SHA-256. */
function digestOf(part: string): string {
  return hash('sha256', part, 'base64url').slice(0, 15)
}

/**
 * Returns `undefined` if an attempt is within the allowance. Otherwise, `wait` are the milliseconds until finished attempts no longer use it
 * up. It is 0 if only running attempts do.
 */
export function refusalOf({ allowance, ids, latest }: Counter, rows: readonly AttemptCount[], now: number) {
  const { limit, within } = allowance
  const live = rows.filter(({ id, expiresAt }) => ids.includes(id) && expiresAt > now && expiresAt <= latest)
  if (live.reduce((sum, { used, running }) => sum + used + running, 0) < limit) return undefined
  let finished = 0
  for (const { expiresAt, used, running } of live.sort((one, other) => other.expiresAt - one.expiresAt)) {
    // A running evaluation may still end without a count, unless its process has crashed.
    finished += used + (expiresAt - within > now - longestEvaluation ? 0 : running)
    if (finished >= limit) return { allowance, wait: Math.min(expiresAt - now, within) }
  }
  return { allowance, wait: 0 }
}
