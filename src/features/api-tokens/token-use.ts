import type { AuthMiddleware } from '#auth'
import type { LastUses } from '#auth/mikro-orm'
import { UserToken } from '../../users/user-token.ts'

/** Notes when a token was last used. Stands behind the authenticator of tokens. */
export function tokenUse(uses: LastUses<UserToken>): AuthMiddleware {
  return (ctx, next) => {
    const token = ctx.auth.peek(UserToken)
    if (token) uses.note(token)
    return next()
  }
}
