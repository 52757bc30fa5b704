import type { AuthContext, AuthMiddleware } from './auth.ts'
import { type Find, RequestAuthenticator } from './authenticator.ts'
import { type BearerAuthorization, bearerAuthorization, quoted } from './authorization.ts'
import type { Class } from './class.ts'

/** Verifies `Authorization: Bearer` (specification, "Bearer"; RFC 6750). To be used over TLS only. */
export abstract class BearerAuthenticator<User extends object = object> extends RequestAuthenticator<User> {
  /**
   * The middleware over a look-up of your own, for users that are kept in a way that no other kind knows:
   * `BearerAuthenticator.from(User, (token) => userOfToken(token))`.
   */
  static from<User extends object>(user: Class<User>, find: Find<NoInfer<User>>): AuthMiddleware {
    return new FoundByToken(user, find).middleware()
  }

  /** The protection space that the challenge names (RFC 9110 §11.5), in printable ASCII. */
  readonly realm: string = 'restricted'

  /** Called when the request has a bearer token. Calls `ctx.auth.login` if it is good, else does nothing. */
  abstract authenticate(bearer: BearerAuthorization, ctx: AuthContext): void | Promise<void>

  override attempt(ctx: AuthContext): void | Promise<void> {
    const bearer = bearerAuthorization(ctx.req)
    if (bearer) return this.authenticate(bearer, ctx)
  }

  /** Says `invalid_token` only where one was sent: without credentials there is no error to name (RFC 6750 §3.1). */
  override challenge(ctx: AuthContext): string {
    const error = bearerAuthorization(ctx.req) ? ', error="invalid_token"' : ''
    return `Bearer realm=${quoted(this.realm)}${error}`
  }

  /** Throws `Misuse` if no header can hold the `realm`. */
  override middleware(): AuthMiddleware {
    quoted(this.realm)
    return super.middleware()
  }
}

class FoundByToken<User extends object> extends BearerAuthenticator<User> {
  readonly user: Class<User>
  readonly #find: Find<User>

  constructor(user: Class<User>, find: Find<User>) {
    super()
    this.user = user
    this.#find = find
  }

  override async authenticate({ token }: BearerAuthorization, ctx: AuthContext): Promise<void> {
    const user = await this.#find(token, ctx)
    if (user) ctx.auth.login(user, this.user)
  }
}

export { BearerAuthenticator as AsyncBearerAuthenticator }
