import type { ExtendableContext } from 'koa'
import type { Class } from './checks.ts'
import { isProduction } from './errors.ts'

/** Warns of a route that ran an authenticator but did not check the user: a guard may be missing. */
export function warnOfUnguarded(ctx: ExtendableContext): void {
  if (ctx.status >= 400) return
  const sentence =
    'ran an authenticator, but did not check the user. Add `guard(User)` or call `ctx.auth.get(User)`.'
  warnOfRoute(ctx, 'KOA_AUTH_UNGUARDED', sentence)
}

/** Warns of a `logout` on a route without an authenticator for that class, because the session does not end. */
export function warnOfIneffectiveLogout(ctx: ExtendableContext, type: Class): void {
  const problem = `logs out a ${type.name}, but has no authenticator for that class, so the session does not end`
  warnOfRoute(ctx, 'KOA_AUTH_UNGUARDED', `${problem}. Add the session authenticator.`)
}

/** Warns of a body without the fields of a credentials authenticator. Shows the names of the fields, never their values. */
export function warnOfMissingFields(ctx: ExtendableContext, body: unknown, fields: readonly string[]): void {
  if (typeof body !== 'object' || body === null || isProduction()) return
  const missing = fields.filter((name) => !Object.hasOwn(body, name))
  const names = Object.keys(body).slice(0, 10)
  if (missing.length === 0 || names.length === 0) return
  const sent = names.map((name) => name.slice(0, 40).replace(/[^ -~]/g, '?')).join(', ')
  const problem = `received a body without \`${missing.join('`/`')}\``
  const sentence = `${problem}. Its fields are: ${sent}. Set the option \`fields\` for other names.`
  warnOfRoute(ctx, 'KOA_AUTH_FIELDS', sentence)
}

const warnedApplications = new WeakSet<object>()

/** Warns of sessions without a cross-site check, once per application. Another site can send requests with the cookies of these sessions. */
export function warnOfNoCrossSiteCheck(ctx: ExtendableContext): void {
  if (isProduction() || warnedApplications.has(ctx.app)) return
  warnedApplications.add(ctx.app)
  process.emitWarning(
    `A session authenticator served a ${ctx.method} request without a cross-site check. Add \`app.use(refuseCrossSite())\` before it.`,
    { code: 'KOA_AUTH_CROSS_SITE' },
  )
}

const warned = new Set<string>()

/** Warns once per route and code. Limits the number of warnings, because clients choose the paths if there is no router. */
export function warnOfRoute(
  ctx: ExtendableContext & { _matchedRoute?: unknown },
  code: string,
  sentence: string,
): void {
  const path = typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : ctx.path
  const key = `${ctx.method} ${path} ${code}`
  if (isProduction() || warned.size >= 100 || warned.has(key)) return
  warned.add(key)
  process.emitWarning(`${ctx.method} ${path} ${sentence}`, { code })
}
