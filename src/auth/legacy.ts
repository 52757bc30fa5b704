import { type AuthContext, type AuthMiddleware, authOf } from './auth.ts'
import { RequestAuthenticator } from './authenticator.ts'
import { bearerAuthorization } from './authorization.ts'
import type { Class } from './class.ts'
import { Forbidden } from './errors.ts'

/** A stored token of the older variant, with its parent relation (specification, "Older variant models"). */
export interface LegacyToken<User extends object> {
  readonly user: User
}

type Found<User extends object> = LegacyToken<User> | null | undefined

/** The older variant's token model: finds the stored token that was sent, and its user; `undefined` if there is none. */
export interface LegacyTokenType<User extends object> {
  find(token: string, ctx: AuthContext): Found<User> | Promise<Found<User>>
}

/** The older variant's user type: a class that names its token model (specification, "Older variant"). */
export type TokenAuthenticatable<User extends object = object> = Class<User> & {
  readonly TokenType: LegacyTokenType<User>
}

/**
 * The older variant's token authentication, for a group or the whole application: logs in the user of the bearer token,
 * and rejects with 403 a token that is not stored, and none at all, without saying which.
 */
export function tokenAuthentication<User extends object>(type: TokenAuthenticatable<User>): AuthMiddleware {
  const authenticator = new LegacyAuthenticator(type)
  return async (ctx, next) => {
    const auth = authOf(ctx)
    await auth.attempt(authenticator)
    if (!auth.has(type) || auth.by(type) !== authenticator) throw new Forbidden('You may not see this.')
    return next()
  }
}

/** The older variant's `require`: the authenticated user of that type; throws `Forbidden` if there is none. */
export function assertAuthenticated<User extends object>(ctx: AuthContext, type: Class<User>): User {
  const user = authOf(ctx).get(type)
  if (!user) throw new Forbidden('You may not see this.')
  return user
}

class LegacyAuthenticator<User extends object> extends RequestAuthenticator<User> {
  readonly user: TokenAuthenticatable<User>

  constructor(user: TokenAuthenticatable<User>) {
    super()
    this.user = user
  }

  override async attempt(ctx: AuthContext): Promise<void> {
    const bearer = bearerAuthorization(ctx.req)
    const found = bearer && (await this.user.TokenType.find(bearer.token, ctx))
    // A token may have outlived its user.
    if (found?.user) ctx.auth.login(found.user, this.user)
  }

  /** Whoever is authenticated by other means still has to send a token. */
  override isSpared(): boolean {
    return false
  }
}
