import type { Next } from 'koa'
import { guard, redirectUnless } from '#auth'
import { fieldsOf, textFields } from '../../site/form.ts'
import { wantsPage } from '../../site/page.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'
import { currentPasswordProblem } from '../sign-in/owner.ts'

/** How long a proof of the user counts for sensitive actions. A password in the request is a proof too. */
export const freshFor = '10m'

const refuseStale = guard(User, { fresh: freshFor })

/**
 * Requires a session whose last proof is at most ten minutes old. Use it after `owner()`. A page goes to `/confirm` and comes back
 * to `back`; a program gets 401.
 *
 * @param back a path of the site
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
 * Returns the problem with the proof for a sensitive action: a wrong password in the body, or no password and no fresh session.
 * @throws {Unauthorized} 401, for a program with neither
 * @throws {TryLater} 429, after too many wrong passwords
 */
export async function proofProblem(ctx: SiteContext): Promise<string | undefined> {
  if (fieldsOf(ctx).password !== undefined)
    return currentPasswordProblem(ctx, textFields(ctx, 'password').password)
  if (!needsPassword(ctx)) return undefined
  if (!wantsPage(ctx)) await refuseStale(ctx, async () => {})
  return 'Enter your current password.'
}

/** Whether a form for a sensitive action needs the password of the user. */
export function needsPassword(ctx: SiteContext): boolean {
  return !ctx.auth.isFresh(User, freshFor)
}
