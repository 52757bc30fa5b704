import type { Next } from 'koa'
import { guard, redirectUnless } from '#auth'
import { fieldsOf, textFields } from '../site/form.ts'
import { wantsPage } from '../site/page.ts'
import type { SiteContext } from '../site/site-context.ts'
import { User } from '../users/user.ts'
import { currentPasswordProblem } from './owner.ts'

/** The maximum age of a proof of identity for sensitive actions. */
export const freshFor = '10m'

const refuseStale = guard(User, { fresh: freshFor })

/**
 * Requires a proof of identity from the last ten minutes. Use it after `owner()`. Without such a proof, a page request is redirected to
 * `/confirm`, and an API request gets 401.
 *
 * @param back the path to redirect to after the confirmation
 */
export function fresh(back: string | ((ctx: SiteContext) => string)) {
  const pathOf = typeof back === 'string' ? () => back : back
  const confirm = redirectUnless(
    User,
    (ctx) => `/confirm?next=${encodeURIComponent(pathOf(ctx as SiteContext))}`,
    { fresh: freshFor },
  )
  return (ctx: SiteContext, next: Next) => (wantsPage(ctx) ? confirm(ctx, next) : refuseStale(ctx, next))
}

/**
 * Like `fresh`, but only for an account with an authenticator app, because its password alone is not enough (NIST SP 800-63B-4 §4.2).
 * Other accounts can send the password with the request.
 */
export function freshWithApp(back: string) {
  const requireFresh = fresh(back)
  return (ctx: SiteContext, next: Next) =>
    ctx.auth.require(User).secondFactorAt ? requireFresh(ctx, next) : next()
}

/**
 * Checks the proof of identity for a sensitive action: the password in the body, or an authentication in the last ten minutes. Use it
 * after `freshWithApp`.
 * Returns the problem, or `undefined` if the proof is right.
 *
 * @throws {Unauthorized} 401 for an API request with neither
 * @throws {TryLater} 429 after too many wrong passwords
 */
export async function proofProblem(ctx: SiteContext): Promise<string | undefined> {
  if (fieldsOf(ctx).password !== undefined)
    return currentPasswordProblem(ctx, textFields(ctx, 'password').password)
  if (!needsPassword(ctx)) return undefined
  if (!wantsPage(ctx)) await refuseStale(ctx, async () => {})
  return 'Enter your current password.'
}

/** Whether a form for a sensitive action needs the password, because the authentication is not fresh. */
export function needsPassword(ctx: SiteContext): boolean {
  return !ctx.auth.isFresh(User, freshFor)
}
