import type { Next } from 'koa'
import { type AuthContext, guard, redirectUnless } from '#auth'
import { entityManager } from '#auth/mikro-orm'
import { minute } from '../durations.ts'
import { fieldsOf, textFields } from '../site/form.ts'
import { wantsPage } from '../site/page.ts'
import type { SiteContext } from '../site/site-context.ts'
import { hasPassword } from '../users/has-password.ts'
import { User } from '../users/user.ts'
import { currentPasswordProblem } from './owner.ts'
import type { Services } from './services.ts'

/** The maximum age of a proof of identity for sensitive actions. */
const freshFor = 10 * minute

const refuseStale = guard(User, { fresh: freshFor })

/**
 * Requires a proof of identity from the last ten minutes. Use it after `owner()`. Without such a proof, a page request is redirected to
 * `/confirm`, and an API request gets 401.
 *
 * @param back the path to redirect to after the confirmation
 */
export function fresh(back: string | ((ctx: AuthContext) => string)) {
  const pathOf = typeof back === 'string' ? () => back : back
  const confirm = redirectUnless(User, (ctx) => `/confirm?next=${encodeURIComponent(pathOf(ctx))}`, {
    fresh: freshFor,
  })
  return (ctx: SiteContext, next: Next) => (wantsPage(ctx) ? confirm(ctx, next) : refuseStale(ctx, next))
}

/**
 * Like `fresh`, but not for an account that can send its password with the request. The password alone is not enough for an account
 * with an authenticator app (NIST SP 800-63B-4 §4.2).
 */
export function freshUnlessPassword(back: string) {
  const requireFresh = fresh(back)
  return async (ctx: SiteContext, next: Next): Promise<unknown> => {
    // A fresh session needs no query.
    if (!needsPassword(ctx)) return next()
    const { id, secondFactorAt } = ctx.auth.require(User)
    const canSendPassword = !secondFactorAt && (await hasPassword(entityManager(ctx), id))
    return canSendPassword ? next() : requireFresh(ctx, next)
  }
}

/**
 * Checks the proof of identity for a sensitive action: the password in the body, or an authentication in the last ten minutes. Use it
 * after `freshUnlessPassword`.
 * Returns the problem, or `undefined` if the proof is right.
 *
 * @throws {Unauthorized} 401 for an API request with neither
 * @throws {TryLater} 429 after too many wrong passwords
 */
export async function proofProblem(services: Services, ctx: SiteContext): Promise<string | undefined> {
  if (fieldsOf(ctx).password !== undefined)
    return currentPasswordProblem(services, ctx, textFields(ctx, 'password').password)
  if (!needsPassword(ctx)) return undefined
  if (!wantsPage(ctx)) await refuseStale(ctx, async () => {})
  return 'Enter your current password.'
}

/** Whether a form for a sensitive action needs the password, because the authentication is not fresh. */
export function needsPassword(ctx: SiteContext): boolean {
  return !ctx.auth.isFresh(User, freshFor)
}

/** Whether a proof of identity is new enough for sensitive actions. */
export function isRecent(at: Date): boolean {
  return Date.now() - at.getTime() <= freshFor
}
