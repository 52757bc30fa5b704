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

/** Whether a session counts for nobody any more, though its row may still be there. */
export function isOver(
  { kept, createdAt, seenAt }: Pick<StoredSession, 'kept' | 'createdAt' | 'seenAt'>,
  now = Date.now(),
): boolean {
  const { idle, absolute } = limitsOf(kept)
  return now - seenAt.getTime() >= idle || now - createdAt.getTime() >= absolute
}

/** The same of all sessions, as conditions, each of which has an index. */
export function over(now: number): object[] {
  return [...overFor(false, now), ...overFor(true, now)]
}

function overFor(kept: boolean, now: number) {
  const { idle, absolute } = limitsOf(kept)
  return [
    { kept, seenAt: { $lte: new Date(now - idle) } },
    { kept, createdAt: { $lte: new Date(now - absolute) } },
  ]
}

function limitsOf(kept: boolean): SessionLimits {
  return kept ? limits.kept : limits.usual
}
