import { clockSkew, day, hour } from '../../durations.ts'
import type { StoredSession } from './stored-session.ts'

/** The idle and absolute limits in milliseconds, without and with "Keep me signed in" (docs/security-model.md, "Sessions"). */
export const limits = {
  usual: { idle: 2 * hour, absolute: day },
  kept: { idle: 14 * day, absolute: 30 * day },
}

/** The lifetime of a session's cookie in milliseconds. */
export function lifetime(isKept: boolean): number {
  return limitsOf(isKept).absolute
}

/** Returns whether a session has expired. A session with a time more than two minutes in the future counts as expired. */
export function isExpired(
  { kept, createdAt, seenAt }: Pick<StoredSession, 'kept' | 'createdAt' | 'seenAt'>,
  now = Date.now(),
): boolean {
  const { idle, absolute } = limitsOf(kept)
  const latest = now + clockSkew
  if (createdAt.getTime() > latest || seenAt.getTime() > latest) return true
  return now - seenAt.getTime() >= idle || now - createdAt.getTime() >= absolute
}

/** `isExpired` as conditions on indexed columns. Both limits are longer by `delay` milliseconds. */
export function expiredSessions(now: number, delay: number): object[] {
  const future = new Date(now + clockSkew)
  return [false, true].flatMap((kept) => {
    const { idle, absolute } = limitsOf(kept)
    return [
      { kept, seenAt: { $gt: future } },
      { kept, createdAt: { $gt: future } },
      { kept, seenAt: { $lte: new Date(now - delay - idle) } },
      { kept, createdAt: { $lte: new Date(now - delay - absolute) } },
    ]
  })
}

function limitsOf(kept: boolean) {
  return kept ? limits.kept : limits.usual
}
