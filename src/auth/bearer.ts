import type { AuthContext, AuthMiddleware } from './auth.ts'
import { type Find, RequestAuthenticator, requireFind, type UserOrNothing } from './authenticator.ts'
import { type BearerAuthorization, bearerAuthorization, quoted, type RealmOptions } from './authorization.ts'
import type { Class } from './checks.ts'

/** Verifies `Authorization: Bearer` (RFC 6750). Use it over TLS only. */
export abstract class BearerAuthenticator<User extends object = object> extends RequestAuthenticator<User> {
  /** The middleware for a function: `BearerAuthenticator.from(User, (token) => userByToken(token))`. */
  static from<User extends object>(
    user: Class<User>,
    find: Find<NoInfer<User>>,
    options: RealmOptions = {},
  ): AuthMiddleware {
    const findUser = requireFind(user, find)
    class FromFunction extends BearerAuthenticator<User> {
      override readonly user = user
      override authenticate({ token }: BearerAuthorization, ctx: AuthContext) {
        return findUser(token, ctx)
      }
    }
    return new FromFunction(options).middleware()
  }

  /** The protection space in the challenge, in printable ASCII (RFC 9110 §11.5). */
  readonly realm: string

  /** Throws `Misuse` for a `realm` that a header cannot hold. */
  constructor({ realm = 'restricted' }: RealmOptions = {}) {
    super()
    quoted(realm)
    this.realm = realm
  }

  /** Verifies a bearer token. Returns the user if it is valid, else nothing. */
  abstract authenticate(bearer: BearerAuthorization, ctx: AuthContext): UserOrNothing<User>

  override attempt(ctx: AuthContext): UserOrNothing<User> {
    const bearer = bearerAuthorization(ctx.req)
    if (bearer) return this.authenticate(bearer, ctx)
  }

  /** The challenge, with an error only if the request had a token (RFC 6750 §3.1, RFC 9470 §3). */
  override challenge(ctx: AuthContext, maxAge?: number): string {
    const error =
      maxAge === undefined
        ? 'error="invalid_token"'
        : `error="insufficient_user_authentication", max_age="${maxAge}"`
    return `Bearer realm=${quoted(this.realm)}${bearerAuthorization(ctx.req) ? `, ${error}` : ''}`
  }
}
