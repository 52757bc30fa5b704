import { type AuthContext, RequestAuthenticator } from '#auth'
import { SessionToken } from '#auth/jwt'
import { KeyLookUp } from '#auth/mikro-orm'
import { User } from '../users/user.ts'

/**
 * Loads the user of a signed token that was found good before. A token whose user is gone is nobody's, and so is one
 * from before the last change of the password. A token tells the second of its issue only: one from the very second of
 * the change counts as from before it.
 */
export class TokenUser extends RequestAuthenticator<User> {
  readonly user = User
  readonly #users = new KeyLookUp(User)

  override async attempt(ctx: AuthContext): Promise<void> {
    const token = ctx.auth.peek(SessionToken)
    const user = token && (await this.#users.find(ctx, token.userId))
    if (user && issuedAt(token) > user.passwordChangedAt.getTime()) ctx.auth.login(user)
  }
}

// As ours live. One that was given a shorter life counts as older than it is, which errs on the safe side.
function issuedAt({ expiration }: SessionToken): number {
  return expiration.getTime() - SessionToken.lifetime * 1000
}
