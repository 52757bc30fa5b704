import type { AuthContext, AuthMiddleware } from './auth.ts'
import { RequestAuthenticator } from './authenticator.ts'
import { type BasicAuthorization, basicAuthorization, quoted } from './authorization.ts'

/** Verifies `Authorization: Basic` (specification, "Basic"; RFC 7617). To be used over TLS only. */
export abstract class BasicAuthenticator<User extends object = object> extends RequestAuthenticator<User> {
  /** The protection space that the challenge names (RFC 9110 §11.5), in printable ASCII. */
  readonly realm: string = 'restricted'

  /** Called when the request has Basic credentials. Calls `ctx.auth.login` if they match, else does nothing. */
  abstract authenticate(basic: BasicAuthorization, ctx: AuthContext): void | Promise<void>

  override attempt(ctx: AuthContext): void | Promise<void> {
    const basic = basicAuthorization(ctx.req)
    if (basic) return this.authenticate(basic, ctx)
  }

  override challenge(_ctx: AuthContext): string {
    return `Basic realm=${quoted(this.realm)}, charset="UTF-8"`
  }

  /** Throws `Misuse` if no header can hold the `realm`. */
  override middleware(): AuthMiddleware {
    quoted(this.realm)
    return super.middleware()
  }
}

export { BasicAuthenticator as AsyncBasicAuthenticator }
