/** How far the clocks of two machines may differ, in milliseconds. */
export const clockSkew = 2 * 60_000

/**
 * Whether a stored time is so far in the future that a wrong clock must have written it. Callers treat such a row as
 * expired.
 */
export function isInFuture(at: Date | number, now: number): boolean {
  return Number(at) > now + clockSkew
}
