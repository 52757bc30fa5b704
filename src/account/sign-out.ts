import { audit } from '../site/audit.ts'
import { complete } from '../site/page.ts'
import type { SiteContext } from '../site/site-context.ts'
import { User } from '../users/user.ts'

/** Ends the session of this request, if there is one, and responds. Throws 503 if the session cannot be read. */
export function signOut(ctx: SiteContext): void {
  const user = ctx.auth.get(User)
  if (user) audit(ctx, 'signed out', user)
  ctx.auth.logout(User)
  ctx.set('Clear-Site-Data', '"cache", "storage"')
  complete(ctx, '/')
}
