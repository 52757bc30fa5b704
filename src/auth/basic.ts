import type { AuthContext, AuthMiddleware } from './auth.ts'
import { authenticateBy, type Find, RequestAuthenticator } from './authenticator.ts'
import { type BasicAuthorization, basicAuthorization, quoted } from './authorization.ts'
import type { Class } from './class.ts'

/** Verifies `Authorization: Basic` (RFC 7617). Use it over TLS only. */
export abstract class BasicAuthenticator<User extends object = object> extends RequestAuthenticator<User> {
  /** The middleware for a function: `BasicAuthenticator.from(User, ({ username, password }) => …)`. */
  static from<User extends object>(
    user: Class<User>,
    find: Find<NoInfer<User>, BasicAuthorization>,
  ): AuthMiddleware {
    class FromFunction extends BasicAuthenticator<User> {
      override readonly user = user
      override authenticate = authenticateBy(user, find)
    }
    return new FromFunction().middleware()
  }

  override readonly accepts: string = 'Basic'
  override readonly methods: readonly string[] | undefined = ['pwd']

  /** The protection space in the challenge, in printable ASCII (RFC 9110 §11.5). */
  readonly realm: string = 'restricted'

  /** Verifies Basic credentials. Calls `ctx.auth.login` if they match, else does nothing. */
  abstract authenticate(basic: BasicAuthorization, ctx: AuthContext): void | Promise<void>

  override attempt(ctx: AuthContext): void | Promise<void> {
    const basic = basicAuthorization(ctx.req)
    if (basic) return this.authenticate(basic, ctx)
  }

  override challenge(_ctx: AuthContext): string {
    return `Basic realm=${quoted(this.realm)}, charset="UTF-8"`
  }

  /** Throws `Misuse` for a `realm` that a header cannot hold. */
  override middleware(): AuthMiddleware {
    const middleware = super.middleware()
    quoted(this.realm)
    return middleware
  }
}

export { BasicAuthenticator as AsyncBasicAuthenticator }
