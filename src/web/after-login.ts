import { nextPath } from '#auth'

/** Where to go after signing in: the page that was asked for, unless it is one that signs in or out; or the account. */
export function afterLogin(next: unknown): string {
  const path = nextPath(next, '/account')
  return /^\/(?:login|logout|signup)(?:[?#]|$)/.test(path) ? '/account' : path
}
