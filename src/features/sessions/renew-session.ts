import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'

/**
 * Continues the session of this request under a new identifier, after a further proof of its user (ASVS 7.2.4). The session middleware
 * stores it after the handler.
 *
 * @param methods the methods of that proof (RFC 8176). The session keeps its earlier ones
 */
export function renewSession(ctx: SiteContext, user: User, methods: readonly string[]): void {
  const earlier = ctx.auth.authentication(User)?.methods ?? []
  ctx.auth.login(user, User, { methods: [...new Set([...earlier, ...methods])] })
}
