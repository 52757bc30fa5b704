import type { AuthContext } from './auth.ts'
import { RequestAuthenticator } from './authenticator.ts'
import { type BasicAuthorization, basicAuthorization } from './authorization.ts'

/** Verifies `Authorization: Basic` (specification, "Basic"; RFC 7617). To be used over TLS only. */
export abstract class BasicAuthenticator<User extends object = object> extends RequestAuthenticator<User> {
  /** The protection space that the challenge names (RFC 9110 §11.5). */
  readonly realm: string = 'restricted'

  /** Called when the request has Basic credentials. Calls `ctx.auth.login` if they match, else does nothing. */
  abstract authenticate(basic: BasicAuthorization, ctx: AuthContext): void | Promise<void>

  override attempt(ctx: AuthContext): void | Promise<void> {
    const basic = basicAuthorization(ctx.req)
    if (basic) return this.authenticate(basic, ctx)
  }

  override challenge(_ctx: AuthContext): string {
    return `Basic realm="${this.realm}", charset="UTF-8"`
  }
}

export { BasicAuthenticator as AsyncBasicAuthenticator }
