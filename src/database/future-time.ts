/** How far the clocks of two machines may differ, in milliseconds. */
export const clockSkew = 2 * 60_000

/**
 * Whether a stored time is too far in the future to be true. Such a time was written while a clock was wrong and counts
 * as expired.
 */
export function isInFuture(at: Date | number, now: number): boolean {
  return Number(at) > now + clockSkew
}
