import type Router from '@koa/router'
import { audit } from '../../site/audit.ts'
import { seeOther } from '../../site/see-other.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { wantsPage } from '../../site/wants-page.ts'
import { User } from '../../users/user.ts'

/** `POST /logout`: ends the session, whether there was one or not. */
export function signOut(router: Router<object, SiteContext>): void {
  router.post('/logout', (ctx) => {
    endSession(ctx)
  })
}

/** Ends the session of this request, and answers. */
export function endSession(ctx: SiteContext): void {
  // Throws 503 if the session cannot be looked up, because it cannot be ended either then.
  const user = ctx.auth.get(User)
  if (user) audit(ctx, 'signed out', user)
  ctx.auth.logout(User)
  ctx.set('Clear-Site-Data', '"cache", "storage"')
  if (wantsPage(ctx)) seeOther(ctx, '/')
  else ctx.status = 204
}
