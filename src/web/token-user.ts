import { type AuthContext, RequestAuthenticator } from '#auth'
import { KeyLookUp } from '#auth/mikro-orm'
import { User } from '../users/user.ts'
import { SignedToken } from './signed-token.ts'

/**
 * Loads the user of a signed token that was found good before. A token whose user is gone is nobody's, and so is one that
 * was had for another password than the one of now.
 */
export class TokenUser extends RequestAuthenticator<User> {
  readonly user = User
  readonly #users = new KeyLookUp(User)

  override async attempt(ctx: AuthContext): Promise<void> {
    const token = ctx.auth.peek(SignedToken)
    const user = token && (await this.#users.find(ctx, token.userId))
    if (user && token.isFor(user)) ctx.auth.login(user)
  }
}
