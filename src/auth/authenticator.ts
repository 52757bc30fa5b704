import { type AuthContext, type AuthMiddleware, stateOf } from './auth.ts'
import { type Class, requireClass } from './checks.ts'
import { Misuse } from './errors.ts'

/** The base class of authenticators. They verify credentials and return the user. Guards reject requests. */
export abstract class RequestAuthenticator<User extends object = object> {
  /** The class of the users. */
  abstract readonly user: Class<User>

  /** Whether it handles a sign-in form. If not, a session with `remember: 'signed-in'` does not store its users. */
  readonly signsIn: boolean = false

  /**
   * How its users prove who they are, in values of RFC 8176 such as `pwd`. If this is `undefined` and `signsIn` is `false`,
   * a login without `methods` does not make the user fresh, because the credentials may be a token that the client has stored.
   */
  readonly methods: readonly string[] | undefined = undefined

  /**
   * Reads the request and returns the user of valid credentials. Returns nothing for missing or wrong credentials. Throws if they
   * cannot be checked, for example because the database is down. May call `ctx.auth.login` itself, for example to pass `methods`.
   */
  abstract attempt(ctx: AuthContext): UserOrNothing<User>

  /**
   * The challenge for the `WWW-Authenticate` header of a 401 (RFC 9110 §11.6.1); none by default. `maxAge` is set, in seconds,
   * if the user has to authenticate again.
   */
  challenge(_ctx: AuthContext, _maxAge?: number): string | undefined {
    return undefined
  }

  /** Whether to skip the authenticator for this request. By default `true` if a user of its class is authenticated. */
  isSkipped(ctx: AuthContext): boolean {
    return ctx.auth.peek(this.user) !== undefined
  }

  /** The middleware, for one route, a router or the whole application. Throws `Misuse` for a class without `user`. */
  middleware(): AuthMiddleware {
    requireUser(this)
    return async (ctx, next) => {
      await stateOf(ctx).attempt(this)
      return next()
    }
  }
}

/** Throws `Misuse` for an authenticator without `user`. In TypeScript the compiler checks that. */
export function requireUser(authenticator: RequestAuthenticator | undefined): void {
  if (!authenticator) throw new Misuse('Call `middleware()`, with parentheses.')
  if (typeof authenticator.user === 'function') return
  throw new Misuse(`Add \`user = User\` to ${authenticator.constructor.name}: the class of its users.`)
}

/** What an authenticator returns: the user, or nothing for wrong credentials. */
export type UserOrNothing<User extends object> =
  | User
  | null
  | undefined
  | void
  | Promise<User | null | undefined>
  | Promise<void>

/** Looks up a user by a credential or identifier. Returns `undefined` or `null` if there is none. */
export type Find<User extends object, Value = string> = (
  value: Value,
  ctx: AuthContext,
) => User | null | undefined | Promise<User | null | undefined>

/** Returns the function of a function form, such as `BearerAuthenticator.from`. Throws `Misuse` for wrong arguments. */
export function requireFind<User extends object, Value>(
  user: Class<User>,
  find: Find<User, Value>,
): Find<User, Value> {
  const message = 'Pass the class of the user and a function, as in `BasicAuthenticator.from(User, find)`.'
  requireClass(user, message)
  if (typeof find !== 'function') throw new Misuse(message)
  return find
}
