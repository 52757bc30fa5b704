import type { AuthContext, AuthMiddleware } from './auth.ts'
import { type Find, RequestAuthenticator } from './authenticator.ts'
import { type BasicAuthorization, basicAuthorization, quoted } from './authorization.ts'
import type { Class } from './class.ts'

/** Verifies `Authorization: Basic` (specification, "Basic"; RFC 7617). To be used over TLS only. */
export abstract class BasicAuthenticator<User extends object = object> extends RequestAuthenticator<User> {
  /**
   * The middleware over a check of your own, for users that are kept in a way that no other kind knows:
   * `BasicAuthenticator.from(User, ({ username, password }) => userOf(username, password))`.
   */
  static from<User extends object>(
    user: Class<User>,
    find: Find<NoInfer<User>, BasicAuthorization>,
  ): AuthMiddleware {
    return new FoundByBasic(user, find).middleware()
  }

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

class FoundByBasic<User extends object> extends BasicAuthenticator<User> {
  readonly user: Class<User>
  readonly #find: Find<User, BasicAuthorization>

  constructor(user: Class<User>, find: Find<User, BasicAuthorization>) {
    super()
    this.user = user
    this.#find = find
  }

  override async authenticate(basic: BasicAuthorization, ctx: AuthContext): Promise<void> {
    const user = await this.#find(basic, ctx)
    if (user) ctx.auth.login(user, this.user)
  }
}

export { BasicAuthenticator as AsyncBasicAuthenticator }
