import type { ExtendableContext } from 'koa'
import type { Class } from './class.ts'

/** Warns of a route that ran an authenticator although nothing asked for the user: a guard may be missing. */
export function warnOfUnguarded(ctx: ExtendableContext): void {
  if (ctx.status >= 400) return
  warnOfRoute(
    ctx,
    'ran an authenticator, and nothing asked who the user is. Add `guard(User)`, or ask `ctx.auth`.',
  )
}

/** Warns of a guard or a redirect without an authenticator before it: it refuses every request. */
export function warnOfNoAuthenticator(ctx: ExtendableContext): void {
  warnOfRoute(
    ctx,
    'has a guard or a redirect and no authenticator before it. Add one, such as `User.authenticator()`.',
  )
}

/** Warns of a `logout` on a route without an authenticator for that class, because the session then goes on. */
export function warnOfIneffectiveLogout(ctx: ExtendableContext, type: Class): void {
  warnOfRoute(
    ctx,
    `logs out a ${type.name}, but no authenticator of the route is for that class, so its session goes on. Add the session authenticator.`,
  )
}

const warnedApplications = new WeakSet<object>()

/** Warns once for each application of sessions without a cross-site check: another site can use their cookies. */
export function warnOfNoCrossSiteCheck(ctx: ExtendableContext): void {
  if (isProduction() || warnedApplications.has(ctx.app)) return
  warnedApplications.add(ctx.app)
  process.emitWarning(
    `A session authenticator served a ${ctx.method} request without a cross-site check. Add \`app.use(refuseCrossSite())\` before it.`,
    { code: 'KOA_AUTH_CROSS_SITE' },
  )
}

const warned = new Set<string>()

/** Warns once for each route. The number is bounded, because without a router clients choose the paths. */
function warnOfRoute(ctx: ExtendableContext & { _matchedRoute?: unknown }, sentence: string): void {
  const path = typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : ctx.path
  const warning = `${ctx.method} ${path} ${sentence}`
  if (isProduction() || warned.size >= 100 || warned.has(warning)) return
  warned.add(warning)
  process.emitWarning(warning, { code: 'KOA_AUTH_UNGUARDED' })
}

function isProduction(): boolean {
  return process.env.NODE_ENV === 'production'
}
