import type { Next } from 'koa'
import { Refusal } from '../refusal.ts'
import { isVerified, User } from '../users/user.ts'
import { page, wantsPage } from './page.ts'
import type { SiteContext } from './site-context.ts'

/** Excludes the token of a link from the `Referer` header. */
export function withoutReferrer(ctx: SiteContext, next: Next): Promise<unknown> {
  ctx.set('Referrer-Policy', 'no-referrer')
  return next()
}

/** Shows a page about links that no longer work, instead of the error page of a 410. */
export function showInvalidLinkPage({ isReset }: { isReset: boolean }) {
  return async (ctx: SiteContext, next: Next): Promise<void> => {
    try {
      await next()
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 410 && wantsPage(ctx))) throw error
      ctx.status = 410
      const user = ctx.auth.peek(User)
      const verified = user && isVerified(user) ? user.email : undefined
      await page(ctx, 'link-gone', { isReset, verified: isReset ? undefined : verified })
    }
  }
}
