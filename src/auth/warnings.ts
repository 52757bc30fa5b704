import type { ExtendableContext } from 'koa'
import type { Class } from './class.ts'

/** Warns of a route that ran an authenticator but did not check the user: a guard may be missing. */
export function warnOfUnguarded(ctx: ExtendableContext): void {
  if (ctx.status >= 400) return
  warnOfRoute(
    ctx,
    'ran an authenticator, but did not check the user. Add `guard(User)` or call `ctx.auth.get(User)`.',
  )
}

/** Warns of a guard or a redirect without an authenticator before it, because it rejects every request. */
export function warnOfNoAuthenticator(ctx: ExtendableContext): void {
  warnOfRoute(
    ctx,
    'has a guard or a redirect and no authenticator before it. Add one, such as `User.authenticator()`.',
  )
}

/** Warns of a `logout` on a route without an authenticator for that class, because the session does not end. */
export function warnOfIneffectiveLogout(ctx: ExtendableContext, type: Class): void {
  warnOfRoute(
    ctx,
    `logs out a ${type.name}, but no authenticator of the route is for that class, so the session does not end. Add the session authenticator.`,
  )
}

const warnedApplications = new WeakSet<object>()

/** Warns once per application of sessions without a cross-site check, because another site can use their cookies. */
export function warnOfNoCrossSiteCheck(ctx: ExtendableContext): void {
  if (isProduction() || warnedApplications.has(ctx.app)) return
  warnedApplications.add(ctx.app)
  process.emitWarning(
    `A session authenticator served a ${ctx.method} request without a cross-site check. Add \`app.use(refuseCrossSite())\` before it.`,
    { code: 'KOA_AUTH_CROSS_SITE' },
  )
}

const warned = new Set<string>()

/** Warns once per route. The number is bounded, because clients choose the paths if there is no router. */
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
