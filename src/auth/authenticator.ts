import type { AuthContext, AuthMiddleware } from './auth.ts'
import { authOf } from './auth.ts'
import type { Class } from './class.ts'

/**
 * The base of all kinds (specification, "Authenticator kinds"): verifies credentials and stores the user on the
 * request. It never rejects: a guard, a redirect or the handler does. Any kind may answer at once or with a promise.
 */
export abstract class RequestAuthenticator<User extends object = object> {
  /** The class of the user that it authenticates. */
  abstract readonly user: Class<User>

  /** Whether a log-in by it is a sign-in, which a session remembers even where it does not remember everybody. */
  readonly signsIn: boolean = false

  /** Whether it may stand before the whole application, public pages too, which need not ask who the user is. */
  readonly isForEveryPage: boolean = false

  /** Looks at the request and calls `ctx.auth.login`, or does nothing. Throws only if it cannot decide. */
  abstract attempt(ctx: AuthContext): void | Promise<void>

  /** Its part of the `WWW-Authenticate` header of a 401 (RFC 9110 §11.6.1), if it has one. */
  challenge(_ctx: AuthContext): string | undefined {
    return undefined
  }

  /** Whether there is nothing left to do: a user of its type is authenticated already. */
  isSpared(ctx: AuthContext): boolean {
    return ctx.auth.peek(this.user) !== undefined
  }

  /** The middleware, for one route, a router or the whole application. */
  middleware(): AuthMiddleware {
    return (ctx, next) => authOf(ctx).attempt(this, next)
  }
}

/** Finds the user that something stands for, in whatever way the application keeps users; `undefined` or `null` if it stands for nobody. */
export type Find<User extends object, Value = string> = (
  value: Value,
  ctx: AuthContext,
) => User | null | undefined | Promise<User | null | undefined>

export { RequestAuthenticator as AsyncRequestAuthenticator }
