import type { AuthMiddleware } from '#auth'
import type { LastUses } from '../database/last-uses.ts'
import { UserToken, usedTokens } from '../users/user-token.ts'

/** Notes when a token was last used. Stands behind the authenticator of tokens. */
export function tokenUse(lastUses: LastUses): AuthMiddleware {
  return (ctx, next) => {
    const token = ctx.auth.peek(UserToken)
    if (token) lastUses.note(usedTokens, token.id, token.lastUsedAt)
    return next()
  }
}
