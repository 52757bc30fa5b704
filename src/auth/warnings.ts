import type { ExtendableContext } from 'koa'
import type { Class } from './class.ts'
import { isProduction } from './errors.ts'

/** Warns of a route that ran an authenticator but did not check the user: a guard may be missing. */
export function warnOfUnguarded(ctx: ExtendableContext): void {
  if (ctx.status >= 400) return
  warnOfRoute(
    ctx,
    'ran an authenticator, but did not check the user. Add `guard(User)` or call `ctx.auth.get(User)`.',
  )
}

/** Warns of a guard or a redirect without an authenticator before it, because such a route rejects every request. */
export function warnOfNoAuthenticator(ctx: ExtendableContext): void {
  warnOfRoute(
    ctx,
    'has a guard or a redirect and no authenticator before it. Add one, such as `User.authenticator()`.',
  )
}

/** Warns of a guard with `fresh` after authenticators that accept only tokens, because the guard rejects every request. */
export function warnOfNeverFresh(ctx: ExtendableContext): void {
  const sentence =
    'requires a fresh user, but its authenticators accept only tokens. Add a session or password authenticator.'
  warnOfRoute(ctx, sentence, { code: 'KOA_AUTH_NEVER_FRESH', once: 'fresh' })
}

/** Warns of a page that redirects to itself, because the browser shows "too many redirects". */
export function warnOfRedirectLoop(ctx: ExtendableContext): void {
  const sentence = 'redirects to itself. Mount `redirectUnless` on other routes only.'
  warnOfRoute(ctx, sentence, { code: 'KOA_AUTH_REDIRECT_LOOP', once: 'redirect loop' })
}

/** Warns of a `logout` on a route without an authenticator for that class, because the session does not end. */
export function warnOfIneffectiveLogout(ctx: ExtendableContext, type: Class): void {
  warnOfRoute(
    ctx,
    `logs out a ${type.name}, but has no authenticator for that class, so the session does not end. Add the session authenticator.`,
  )
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
  warnOfRoute(ctx, sentence, { code: 'KOA_AUTH_FIELDS', once: 'fields' })
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

/** Warns once per route. Limits the number of warnings, because clients choose the paths if there is no router. */
function warnOfRoute(
  ctx: ExtendableContext & { _matchedRoute?: unknown },
  sentence: string,
  { code, once }: { code: string; once: string } = { code: 'KOA_AUTH_UNGUARDED', once: sentence },
): void {
  const path = typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : ctx.path
  const key = `${ctx.method} ${path} ${once}`
  if (isProduction() || warned.size >= 100 || warned.has(key)) return
  warned.add(key)
  process.emitWarning(`${ctx.method} ${path} ${sentence}`, { code })
}
