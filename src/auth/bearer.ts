import type { AuthContext, AuthMiddleware } from './auth.ts'
import { authenticateBy, type Find, RequestAuthenticator } from './authenticator.ts'
import { type BearerAuthorization, bearerAuthorization, quoted } from './authorization.ts'
import type { Class } from './class.ts'

/** Verifies `Authorization: Bearer` (RFC 6750). Use it over TLS only. */
export abstract class BearerAuthenticator<User extends object = object> extends RequestAuthenticator<User> {
  /** The middleware for a function: `BearerAuthenticator.from(User, (token) => userByToken(token))`. */
  static from<User extends object>(user: Class<User>, find: Find<NoInfer<User>>): AuthMiddleware {
    const authenticate = authenticateBy(user, find)
    class FromFunction extends BearerAuthenticator<User> {
      override readonly user = user
      override authenticate({ token }: BearerAuthorization, ctx: AuthContext) {
        return authenticate(token, ctx)
      }
    }
    return new FromFunction().middleware()
  }

  override readonly accepts: string = 'a bearer token'

  /** The protection space in the challenge, in printable ASCII (RFC 9110 §11.5). */
  readonly realm: string = 'restricted'

  /** Verifies a bearer token. Calls `ctx.auth.login` if it is valid, else does nothing. */
  abstract authenticate(bearer: BearerAuthorization, ctx: AuthContext): void | Promise<void>

  override attempt(ctx: AuthContext): void | Promise<void> {
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

  /** Throws `Misuse` for a `realm` that a header cannot hold. */
  override middleware(): AuthMiddleware {
    const middleware = super.middleware()
    quoted(this.realm)
    return middleware
  }
}

export { BearerAuthenticator as AsyncBearerAuthenticator }
