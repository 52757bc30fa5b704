import { nextPath } from '#auth'

/** Where to go after signing in: the page that was asked for, unless it is one that signs in or out; or the account. */
export function afterSignIn(next: unknown): string {
  if (next === undefined) return '/account'
  const path = nextPath(next, '/account')
  return /^\/(?:login|logout|signup)$/i.test(pathname(path)) ? '/account' : path
}

/** The page that was asked for; `undefined` if there is none to go to. */
export function asked(next: unknown): string | undefined {
  return next !== undefined && afterSignIn(next) === next ? next : undefined
}

// In the one spelling that a browser would ask for, whatever dots and escapes it is written with.
function pathname(path: string): string {
  return decodeURIComponent(new URL(path, 'https://here.invalid').pathname)
}
