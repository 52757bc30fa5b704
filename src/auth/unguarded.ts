import type { AuthContext } from './auth.ts'
import type { Class } from './class.ts'

const warned = new Set<string>()

/**
 * Says once for each route, in development, that it ran an authenticator and that nobody asked who the user is: a
 * forgotten guard is the commonest hole there is.
 */
export function warnOfUnguarded(ctx: AuthContext): void {
  if (ctx.status >= 400) return
  warnOnce(
    `${ctx.method} ${routeOf(ctx)}`,
    'ran an authenticator, and nothing asked who the user is. Add `guard(User)`, or ask `ctx.auth`.',
  )
}

/** The same for a guard or a redirect that no authenticator stands before: it can only ever refuse. */
export function warnOfNoAuthenticator(ctx: AuthContext): void {
  if (ctx.auth.authenticators.length > 0) return
  warnOnce(
    `${ctx.method} ${routeOf(ctx)}`,
    'has a guard or a redirect and no authenticator before it. Add one, such as `User.authenticator()`.',
  )
}

/** The same where a handler logs a user out whom no authenticator of the route knows: nothing remembers that. */
export function warnOfLogoutInVain(ctx: AuthContext, type: Class): void {
  warnOnce(
    `${ctx.method} ${routeOf(ctx)}`,
    `logs out a ${type.name}, and no authenticator of the route knows any: a session goes on. Add the session authenticator.`,
  )
}

function warnOnce(route: string, sentence: string): void {
  // Bounded, because paths without a router are as many as a client likes.
  if (process.env.NODE_ENV === 'production' || warned.size >= 100 || warned.has(route + sentence)) return
  warned.add(route + sentence)
  process.emitWarning(`${route} ${sentence}`, { code: 'KOA_AUTH_UNGUARDED' })
}

function routeOf(ctx: AuthContext & { _matchedRoute?: unknown }): string {
  return typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : ctx.path
}
