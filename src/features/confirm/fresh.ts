import type { Next } from 'koa'
import { guard, redirectUnless } from '#auth'
import { wantsPage } from '../../site/page.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'

/** How long a proof of the user counts for sensitive actions. A password in the request is a proof too. */
export const freshFor = '10m'

const refuseStale = guard(User, { fresh: freshFor })

/**
 * Requires a session whose last proof is at most ten minutes old. Use it after `owner()`. A page goes to `/confirm` and comes back
 * to `back`; a program gets 401.
 */
export function fresh(back: string) {
  const confirm = redirectUnless(User, `/confirm?next=${encodeURIComponent(back)}`, { fresh: freshFor })
  return (ctx: SiteContext, next: Next) => (wantsPage(ctx) ? confirm(ctx, next) : refuseStale(ctx, next))
}
