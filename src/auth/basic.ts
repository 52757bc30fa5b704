import type { AuthContext, AuthMiddleware } from './auth.ts'
import { type Find, RequestAuthenticator, requireFind, type UserOrNothing } from './authenticator.ts'
import { type BasicAuthorization, basicAuthorization, quoted, type RealmOptions } from './authorization.ts'
import type { Class } from './checks.ts'

/** Verifies `Authorization: Basic` (RFC 7617). Use it over TLS only. */
export abstract class BasicAuthenticator<User extends object = object> extends RequestAuthenticator<User> {
  /** The middleware for a function: `BasicAuthenticator.from(User, ({ username, password }) => …)`. */
  static from<User extends object>(
    user: Class<User>,
    find: Find<NoInfer<User>, BasicAuthorization>,
    options: RealmOptions = {},
  ): AuthMiddleware {
    class FromFunction extends BasicAuthenticator<User> {
      override readonly user = user
      override authenticate = requireFind(user, find)
    }
    return new FromFunction(options).middleware()
  }

  override readonly methods: readonly string[] | undefined = ['pwd']

  /** The protection space in the challenge, in printable ASCII (RFC 9110 §11.5). */
  readonly realm: string

  /** Throws `Misuse` for a `realm` that a header cannot hold. */
  constructor({ realm = 'restricted' }: RealmOptions = {}) {
    super()
    quoted(realm)
    this.realm = realm
  }

  /** Verifies Basic credentials. Returns the user if they match, else nothing. */
  abstract authenticate(basic: BasicAuthorization, ctx: AuthContext): UserOrNothing<User>

  override attempt(ctx: AuthContext): UserOrNothing<User> {
    const basic = basicAuthorization(ctx.req)
    if (basic) return this.authenticate(basic, ctx)
  }

  override challenge(_ctx: AuthContext): string {
    return `Basic realm=${quoted(this.realm)}, charset="UTF-8"`
  }
}
