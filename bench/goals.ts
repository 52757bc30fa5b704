import { interval, median } from './median.ts'
import type { Figures } from './results.ts'

/** A limit for a figure of a task, or for the ratio of two figures from the same rounds. */
export interface Goal {
  readonly task: string
  readonly figure: string
  /** The divisor. */
  readonly of?: string
  readonly least?: number
  readonly most?: number
  readonly unit?: string
}

/** The required goals. */
export const requiredGoals: readonly Goal[] = [
  { task: 'bearer', figure: 'layer', of: 'koa-by-hand', least: 1.1 },
  { task: 'bearer', figure: 'site', of: 'site-by-hand', least: 1 },
  { task: 'bearer', figure: 'layer', of: 'koa-passport', least: 2 },
  { task: 'bearer', figure: 'layer', of: 'better-auth', least: 6 },
  { task: 'jwt-hs256', figure: 'layer', of: 'koa-by-hand', least: 1.3 },
  { task: 'jwt-hs256', figure: 'layer', of: 'fastify', least: 1 },
  { task: 'jwt-es256', figure: 'layer', of: 'koa-by-hand', least: 1.3 },
  { task: 'jwt-es256', figure: 'layer', of: 'fastify', least: 1 },
  { task: 'jwt-eddsa', figure: 'layer', of: 'koa-by-hand', least: 1.3 },
  { task: 'jwt-eddsa', figure: 'layer', of: 'fastify', least: 1 },
  { task: 'session', figure: 'layer', of: 'koa-by-hand', least: 1 },
  { task: 'session', figure: 'layer', of: 'fastify', least: 1 },
  { task: 'session', figure: 'site', of: 'site-by-hand', least: 0.95 },
  { task: 'visitor', figure: 'layer', of: 'koa-by-hand', least: 0.95 },
  { task: 'visitor', figure: 'site', of: 'site-by-hand', least: 0.95 },
  { task: 'logins', figure: 'site', of: 'bcrypt alone', least: 0.95 },
  { task: 'logins', figure: 'p99 of a page in a flood', most: 50, unit: 'ms' },
  { task: 'postgres-bearer', figure: 'layer', of: 'koa-by-hand', least: 0.95 },
  { task: 'postgres-session', figure: 'layer', of: 'koa-by-hand', least: 0.95 },
  { task: 'growth-bearer', figure: '10,000 rows', of: '1,000,000 rows', most: 1.25 },
  { task: 'growth-session', figure: '10,000 rows', of: '1,000,000 rows', most: 1.25 },
  { task: 'startup', figure: 'site', most: 1000, unit: 'ms' },
  { task: 'memory', figure: 'at rest', most: 130, unit: 'MB' },
  { task: 'memory', figure: 'after all requests', of: 'after a quarter', most: 1.1 },
]

/** The optional goals. */
export const optionalGoals: readonly Goal[] = [
  { task: 'bearer', figure: 'layer', of: 'fastify', least: 1 },
  { task: 'jwt-hs256', figure: 'layer', of: 'koa-by-hand', least: 1.7 },
  { task: 'jwt-es256', figure: 'layer', of: 'koa-by-hand', least: 1.7 },
  { task: 'jwt-eddsa', figure: 'layer', of: 'koa-by-hand', least: 1.7 },
  { task: 'visitor', figure: 'layer', of: 'fastify', least: 1 },
]

/** A figure and its goal. */
export interface Verdict {
  readonly median: number
  readonly low: number
  readonly high: number
  /** A goal inside the range from `low` to `high` counts as met. */
  readonly isMet: boolean
  readonly isInRange: boolean
}

/** Compares the figures of a task with a goal. Returns `undefined` if a figure was not measured. */
export function judge({ figure, of, least, most }: Goal, figures: Figures): Verdict | undefined {
  const found = figures[figure]
  const base = of === undefined ? undefined : figures[of]
  if (!found || (of !== undefined && !base)) return undefined
  // Calculates the ratio for each round, because other load on the machine slows all servers of a round equally.
  const all = base ? found.map((value, round) => value / (base[round] ?? Number.NaN)) : found
  const { low, high } = interval(all)
  const isReached = (value: number) => value >= (least ?? value) && value <= (most ?? value)
  const [isLowGood, isHighGood] = [isReached(low), isReached(high)]
  return {
    median: median(all),
    low,
    high,
    isMet: isLowGood || isHighGood,
    isInRange: isLowGood !== isHighGood,
  }
}
