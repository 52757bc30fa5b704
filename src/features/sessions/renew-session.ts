import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'

/**
 * Gives the session of this request a new identifier after a proof of identity (ASVS 7.2.4). The session middleware saves the session
 * after the handler.
 *
 * @param methods the methods of the proof (RFC 8176). They are added to the methods of the session
 */
export function renewSession(ctx: SiteContext, user: User, methods: readonly string[]): void {
  const earlier = ctx.auth.authentication(User)?.methods ?? []
  ctx.auth.login(user, User, { methods: [...new Set([...earlier, ...methods])] })
}
