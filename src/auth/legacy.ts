import { type AuthContext, type AuthMiddleware, stateOf } from './auth.ts'
import type { Find } from './authenticator.ts'
import type { BearerAuthorization } from './authorization.ts'
import { BearerAuthenticator } from './bearer.ts'
import type { Class } from './checks.ts'
import { Forbidden } from './errors.ts'

/** The user type of the older variant of the package: a class whose `TokenType` looks up a stored token and its user. */
export type TokenAuthenticatable<User extends object = object> = Class<User> & {
  readonly TokenType: { readonly find: Find<{ readonly user: User }> }
}

/** The middleware of the older variant: logs in the user of the bearer token. Rejects a missing or unknown token with 403. */
export function tokenAuthentication<User extends object>(type: TokenAuthenticatable<User>): AuthMiddleware {
  class ByStoredToken extends BearerAuthenticator<User> {
    readonly user = type
    override async authenticate({ token }: BearerAuthorization, ctx: AuthContext) {
      // The user of a stored token may be deleted.
      return (await type.TokenType.find(token, ctx))?.user
    }
    /** Never skipped, because the token is mandatory. */
    override isSkipped(): boolean {
      return false
    }
  }
  const authenticator = new ByStoredToken()
  return async (ctx, next) => {
    await stateOf(ctx).attempt(authenticator)
    if (!ctx.auth.has(type) || ctx.auth.by(type) !== authenticator)
      throw new Forbidden('You may not see this.')
    return next()
  }
}

/** The `require` of the older variant: the authenticated user of that class. Throws `Forbidden` if there is none. */
export function assertAuthenticated<User extends object>(ctx: AuthContext, type: Class<User>): User {
  const user = stateOf(ctx) && ctx.auth.get(type)
  if (!user) throw new Forbidden('You may not see this.')
  return user
}
