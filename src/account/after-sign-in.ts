import { nextPath } from '#auth'

/** The path after a sign-in: `next`, or `/account` if `next` is missing, invalid, `/login`, `/logout` or `/signup`. */
export function afterSignIn(next: unknown): string {
  if (next === undefined) return '/account'
  const path = nextPath(next, '/account')
  return /^\/(?:login|logout|signup)$/i.test(pathname(path)) ? '/account' : path
}

/** Returns `next` if it is a valid redirect target, otherwise `undefined`. */
export function requestedPath(next: unknown): string | undefined {
  return next !== undefined && afterSignIn(next) === next ? next : undefined
}

/** Adds `next` to the query of a path, unless it is no valid redirect target. */
export function withNextPath(path: string, next: unknown): string {
  const valid = requestedPath(next)
  if (valid === undefined) return path
  return `${path}${path.includes('?') ? '&' : '?'}next=${encodeURIComponent(valid)}`
}

// Normalised and decoded, because dots and escapes allow several spellings of a path.
function pathname(path: string): string {
  return decodeURIComponent(new URL(path, 'https://here.invalid').pathname)
}
