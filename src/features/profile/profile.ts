import type Router from '@koa/router'
import { redirectUnless, withNext } from '#auth'
import { takeNotice } from '../../site/notice.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { type Complaint, page } from '../../site/views.ts'
import { User } from '../../users/user.ts'

/** Stands before the pages of the account: sends a stranger to sign in, and back. */
export const signedIn = redirectUnless(User, (ctx) => withNext('/login', ctx))

/** `GET /account`: who is signed in, and what there is to manage. */
export function profile(router: Router<object, SiteContext>): void {
  router.get('/account', signedIn, (ctx) => accountPage(ctx, { notice: takeNotice(ctx) }))
}

/** The page itself, also where its form could not be taken. */
export function accountPage(
  ctx: SiteContext,
  more: { notice?: string | undefined; typedName?: string; errors?: Complaint[] },
): Promise<void> {
  const { name, email, passwordChangedAt } = ctx.auth.require(User)
  return page(ctx, 'profile', { user: { name, email }, passwordChangedAt, ...more })
}
