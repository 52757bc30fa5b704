import type { AuthContext } from './auth.ts'
import { RequestAuthenticator } from './authenticator.ts'
import { type BearerAuthorization, bearerAuthorization } from './authorization.ts'

/** Verifies `Authorization: Bearer` (specification, "Bearer"; RFC 6750). To be used over TLS only. */
export abstract class BearerAuthenticator<User extends object = object> extends RequestAuthenticator<User> {
  /** The protection space that the challenge names (RFC 9110 §11.5). */
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
    return `Bearer realm="${this.realm}"${error}`
  }
}

export { BearerAuthenticator as AsyncBearerAuthenticator }
