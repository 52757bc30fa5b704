import type Router from '@koa/router'
import { redirectUnless, withNext } from '#auth'
import { User } from '../../users/user.ts'
import type { SiteContext } from '../site-context.ts'
import { type Complaint, page } from '../views.ts'
import { takeNotice } from './notice.ts'

/** Stands before the pages of the account: sends a stranger to sign in, and back. */
export const signedIn = redirectUnless(User, (ctx) => withNext('/login', ctx))

/** `GET /account`: who is signed in, and what there is to manage. */
export function account(router: Router<object, SiteContext>): void {
  router.get('/account', signedIn, (ctx) => accountPage(ctx, { notice: takeNotice(ctx) }))
}

/** The page itself, also where its form could not be taken. */
export function accountPage(
  ctx: SiteContext,
  more: { notice?: string | undefined; typedName?: string; errors?: Complaint[] },
): Promise<void> {
  const { name, email, passwordChangedAt } = ctx.auth.require(User)
  return page(ctx, 'account', { user: { name, email }, passwordChangedAt, ...more })
}
