import { type AuthContext, type AuthMiddleware, authOf } from './auth.ts'
import type { Class } from './class.ts'

/**
 * The base class of all authenticators. An authenticator verifies credentials and logs in the user of the request. It never
 * rejects a request: a guard, a redirect or the handler does. It may be synchronous or not.
 */
export abstract class RequestAuthenticator<User extends object = object> {
  /** The class of the users. */
  abstract readonly user: Class<User>

  /** Whether it logs in by a sign-in form. A session with `remember: 'signed-in'` keeps only such users. */
  readonly signsIn: boolean = false

  /** Whether it may be mounted before public pages, which do not ask for the user. Then there is no warning. */
  readonly isForEveryPage: boolean = false

  /** Reads the request and calls `ctx.auth.login` for valid credentials. Throws only if it cannot decide. */
  abstract attempt(ctx: AuthContext): void | Promise<void>

  /** The challenge for the `WWW-Authenticate` header of a 401, if there is one (RFC 9110 §11.6.1). */
  challenge(_ctx: AuthContext): string | undefined {
    return undefined
  }

  /** Whether it is skipped, because a user of its class is already authenticated. */
  isSpared(ctx: AuthContext): boolean {
    return ctx.auth.peek(this.user) !== undefined
  }

  /** The middleware, for one route, a router or the whole application. */
  middleware(): AuthMiddleware {
    return async (ctx, next) => {
      await authOf(ctx).attempt(this)
      return next()
    }
  }
}

/** Looks up a user by a credential or identifier. Returns `undefined` or `null` if there is none. */
export type Find<User extends object, Value = string> = (
  value: Value,
  ctx: AuthContext,
) => User | null | undefined | Promise<User | null | undefined>

/** The `authenticate` method of the function forms, such as `BearerAuthenticator.from`. */
export function authenticateBy<User extends object, Value>(user: Class<User>, find: Find<User, Value>) {
  return async (value: Value, ctx: AuthContext): Promise<void> => {
    const found = await find(value, ctx)
    if (found) ctx.auth.login(found, user)
  }
}

export { RequestAuthenticator as AsyncRequestAuthenticator }
