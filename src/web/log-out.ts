import type Router from '@koa/router'
import { User } from '../users/user.ts'
import { wantsPage } from './face.ts'
import { seeOther } from './see-other.ts'
import type { SiteContext } from './site-context.ts'

/** `POST /logout`: ends the session, whether there was one or not. */
export function logOut(router: Router<object, SiteContext>): void {
  router.post('/logout', (ctx) => {
    // A session that cannot be looked up cannot be ended either: that is a 503, not a success.
    ctx.auth.has(User)
    signOut(ctx)
  })
}

/** Ends the session of this request, and answers. */
export function signOut(ctx: SiteContext): void {
  ctx.auth.logout(User)
  ctx.set('Clear-Site-Data', '"cache", "storage"')
  if (wantsPage(ctx)) seeOther(ctx, '/')
  else ctx.status = 204
}
