import { clockSkew, isInFuture } from '../../database/future-time.ts'
import type { StoredSession } from './stored-session.ts'

const hour = 60 * 60_000
const day = 24 * hour

/** How long a session lives: unused, and at all. */
export interface SessionLimits {
  readonly idle: number
  readonly absolute: number
}

/** The usual limits, and those of "Keep me signed in on this device" (HTTP contract, "Sessions"). In milliseconds. */
export const limits = {
  usual: { idle: 2 * hour, absolute: day },
  kept: { idle: 14 * day, absolute: 30 * day },
} satisfies Record<string, SessionLimits>

/** How long the cookie of a session lives, in milliseconds: as long as the session can. */
export function lifetime(isKept: boolean): number {
  return limitsOf(isKept).absolute
}

/** Whether a session is over, though its row may still be there. A session from a wrong clock is. */
export function isOver(
  { kept, createdAt, seenAt }: Pick<StoredSession, 'kept' | 'createdAt' | 'seenAt'>,
  now = Date.now(),
): boolean {
  const { idle, absolute } = limitsOf(kept)
  if (isInFuture(createdAt, now) || isInFuture(seenAt, now)) return true
  return now - seenAt.getTime() >= idle || now - createdAt.getTime() >= absolute
}

/**
 * The same as conditions on the rows. Each of them has an index.
 *
 * @param since how many milliseconds a session must have been over
 */
export function over(now: number, since = 0): object[] {
  return [...overFor(false, now, since), ...overFor(true, now, since)]
}

function overFor(kept: boolean, now: number, since: number) {
  const { idle, absolute } = limitsOf(kept)
  const future = new Date(now + clockSkew)
  return [
    { kept, seenAt: { $gt: future } },
    { kept, createdAt: { $gt: future } },
    { kept, seenAt: { $lte: new Date(now - since - idle) } },
    { kept, createdAt: { $lte: new Date(now - since - absolute) } },
  ]
}

function limitsOf(kept: boolean): SessionLimits {
  return kept ? limits.kept : limits.usual
}
