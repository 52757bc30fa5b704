import { interval, median } from './median.ts'
import type { Figures } from './results.ts'

/** A limit for a figure of a task, or for the ratio of two figures. */
export interface Goal {
  readonly task: string
  readonly figure: string
  /** The figure that divides `figure`. */
  readonly of?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly unit?: string
}

export const requiredGoals: readonly Goal[] = [
  { task: 'bearer', figure: 'layer', of: 'koa-by-hand', minimum: 1.1 },
  { task: 'bearer', figure: 'site', of: 'site-by-hand', minimum: 0.95 },
  { task: 'bearer', figure: 'layer', of: 'koa-passport', minimum: 2 },
  { task: 'bearer', figure: 'layer', of: 'better-auth', minimum: 6 },
  { task: 'jwt-hs256', figure: 'layer', of: 'koa-by-hand', minimum: 1.2 },
  { task: 'jwt-hs256', figure: 'layer', of: 'fastify', minimum: 1 },
  { task: 'jwt-es256', figure: 'layer', of: 'koa-by-hand', minimum: 1.2 },
  { task: 'jwt-es256', figure: 'layer', of: 'fastify', minimum: 1 },
  { task: 'jwt-eddsa', figure: 'layer', of: 'koa-by-hand', minimum: 1.2 },
  { task: 'jwt-eddsa', figure: 'layer', of: 'fastify', minimum: 1 },
  { task: 'session', figure: 'layer', of: 'koa-by-hand', minimum: 1 },
  { task: 'session', figure: 'layer', of: 'fastify', minimum: 1 },
  { task: 'session', figure: 'site', of: 'site-by-hand', minimum: 1.1 },
  { task: 'visitor', figure: 'layer', of: 'koa-by-hand', minimum: 0.95 },
  { task: 'visitor', figure: 'site', of: 'site-by-hand', minimum: 1.1 },
  { task: 'logins', figure: 'site', of: 'bcrypt alone', minimum: 0.95 },
  { task: 'logins', figure: 'p99 of a page in a flood', maximum: 50, unit: 'ms' },
  { task: 'postgres-bearer', figure: 'layer', of: 'koa-by-hand', minimum: 0.95 },
  { task: 'postgres-session', figure: 'layer', of: 'koa-by-hand', minimum: 0.95 },
  { task: 'growth-bearer', figure: '10,000 rows', of: '1,000,000 rows', maximum: 1.25 },
  { task: 'growth-session', figure: '10,000 rows', of: '1,000,000 rows', maximum: 1.25 },
  { task: 'startup', figure: 'site', maximum: 1000, unit: 'ms' },
  { task: 'memory', figure: 'at rest', maximum: 130, unit: 'MB' },
  { task: 'memory', figure: 'after all requests', of: 'after a quarter', maximum: 1.1 },
]

export const optionalGoals: readonly Goal[] = [
  { task: 'bearer', figure: 'layer', of: 'fastify', minimum: 1 },
  { task: 'jwt-hs256', figure: 'layer', of: 'koa-by-hand', minimum: 1.7 },
  { task: 'jwt-es256', figure: 'layer', of: 'koa-by-hand', minimum: 1.7 },
  { task: 'jwt-eddsa', figure: 'layer', of: 'koa-by-hand', minimum: 1.7 },
  { task: 'visitor', figure: 'layer', of: 'fastify', minimum: 1 },
]

/** A figure compared with its goal. */
export interface Verdict {
  readonly median: number
  readonly low: number
  readonly high: number
  /** A goal inside the range from `low` to `high` counts as met. */
  readonly isMet: boolean
  readonly isInRange: boolean
}

/** Compares the figures of a task with a goal. Returns `undefined` if a figure was not measured. */
export function judge({ figure, of, minimum, maximum }: Goal, figures: Figures): Verdict | undefined {
  const found = figures[figure]
  const base = of === undefined ? undefined : figures[of]
  if (!found || (of !== undefined && !base)) return undefined
  // Calculates the ratio for each round, because other load on the machine slows all servers of a round equally.
  const all = base ? found.map((value, round) => value / (base[round] ?? Number.NaN)) : found
  const { low, high } = interval(all)
  const isReached = (value: number) => value >= (minimum ?? value) && value <= (maximum ?? value)
  const [isLowGood, isHighGood] = [isReached(low), isReached(high)]
  return {
    median: median(all),
    low,
    high,
    isMet: isLowGood || isHighGood,
    isInRange: isLowGood !== isHighGood,
  }
}
