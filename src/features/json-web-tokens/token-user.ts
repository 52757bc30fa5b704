import { type AuthContext, RequestAuthenticator } from '#auth'
import { KeyLookUp } from '#auth/mikro-orm'
import { User } from '../../users/user.ts'
import { SignedToken } from './signed-token.ts'

/**
 * Loads the user of a signed token that was found good before. A token whose user is gone is nobody's, and so is one that
 * was had for another password than the one of now.
 */
export class TokenUser extends RequestAuthenticator<User> {
  readonly user = User
  readonly #users = new KeyLookUp(User)

  override attempt(ctx: AuthContext): void | Promise<void> {
    const token = ctx.auth.peek(SignedToken)
    if (!token) return
    const logIn = (user: User | undefined) => {
      if (user && token.isFor(user)) ctx.auth.login(user)
    }
    const user = this.#users.find(ctx, token.userId)
    return user instanceof Promise ? user.then(logIn) : logIn(user)
  }
}
