import type { Next } from 'koa'
import { Refusal } from '../refusal.ts'
import type { SiteContext } from '../site/site-context.ts'
import { isVerified, User } from '../users/user.ts'

/**
 * A guard for routes that need a user with a verified address. Rejects other users with 403. Use it after the guard that
 * requires a user: `router.post('/invitations', ...owner(services), verifiedOnly, handler)`.
 */
export function verifiedOnly(ctx: SiteContext, next: Next): Promise<unknown> {
  if (isVerified(ctx.auth.require(User))) return next()
  throw new Refusal(
    'email_not_verified',
    'Confirm your e-mail address first. You can request a new link on the profile page.',
  )
}
