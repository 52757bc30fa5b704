import { type AuthContext, RequestAuthenticator } from '#auth'
import { SessionToken } from '#auth/jwt'
import { entityManager } from '#auth/mikro-orm'
import { User } from '../users/user.ts'

/** Loads the user of a signed token that was found good before. A token whose user is gone is nobody's. */
export class TokenUser extends RequestAuthenticator<User> {
  readonly user = User

  override async attempt(ctx: AuthContext): Promise<void> {
    const token = ctx.auth.peek(SessionToken)
    const user = token && (await entityManager(ctx).findOne(User, token.userId))
    if (user) ctx.auth.login(user)
  }
}
