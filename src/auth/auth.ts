import type { ExtendableContext, Next } from 'koa'
import { type Authentication, type Duration, isFresh, type LoginOptions } from './authentication.ts'
import { type Class, classOf, requireClass } from './checks.ts'
import { Misuse, type Undecided } from './errors.ts'
import { type Authenticator, RequestState } from './state.ts'
import { challengesFor, unauthorized } from './unauthorized.ts'
import { warnOfIneffectiveLogout } from './warnings.ts'

/** Koa's context with `auth`. In a `Router<object, AuthContext>`, the compiler reports a misspelt `ctx.atuh`. */
export interface AuthContext extends ExtendableContext {
  readonly auth: Auth
}

// Types `ctx.auth` also in `new Router()` and `new Koa()` without type arguments, where it would be `any`.
declare module 'koa' {
  interface DefaultContext {
    auth: Auth
  }
}

/** A Koa middleware that needs `ctx.auth`. */
export type AuthMiddleware = (ctx: AuthContext, next: Next) => unknown

/** Sets `ctx.auth`, an empty store of users, on every request. Mount it before every authenticator and guard. */
export function auth(...none: []): (ctx: ExtendableContext & { auth?: Auth }, next: Next) => Promise<void> {
  if (none.length > 0) throw new Misuse('Call it: `app.use(auth())`, with parentheses.')
  return async (ctx, next) => {
    // A second `auth()` keeps the `ctx.auth` of the first.
    if (ctx.auth && stateOf(ctx)) return next()
    const state = new RequestState(ctx)
    ctx.auth = new Auth(state)
    await next()
    state.close()
  }
}

// A static block of `Auth` sets it, so that only this package reaches the state.
let stateOfAuth: (auth: Auth) => RequestState

/** The state behind `ctx.auth`. Throws `Misuse` if `auth()` is missing or another library has set `ctx.auth`. */
export function stateOf(ctx: { auth?: unknown }): RequestState {
  if (ctx.auth instanceof Auth) return stateOfAuth(ctx.auth)
  if (!ctx.auth) throw new Misuse('Add `app.use(auth())` before the first authenticator, guard or redirect.')
  throw new Misuse(
    'Another library or a second copy of koa-authenticators has set `ctx.auth`. Keep only one of them.',
  )
}

/** The authenticated users of one request, by class. */
export class Auth {
  readonly #state: RequestState

  static {
    stateOfAuth = (auth) => auth.#state
  }

  /** @internal */
  constructor(state: RequestState) {
    this.#state = state
  }

  /** Stores the user for the class `type`. In a handler, this is a sign-in. Throws `Misuse` if the user is not of that class. */
  login<User extends object>(user: User, type = classOf(user), options: LoginOptions = {}): void {
    this.#state.login(user, type, options)
  }

  /** Removes the user of that class from this request, and from the session after the handler. */
  logout(type: Class): void {
    const { users, authenticators } = this.#state
    this.#state.isChecked = true
    const isKnown = users.has(type) || authenticators.some(({ user }) => user === type)
    if (!isKnown) warnOfIneffectiveLogout(this.#state.ctx, type)
    this.#state.logout(type)
  }

  /** The authenticated user of that class, or `undefined`. Throws `Undecided` if an authenticator failed. */
  get<User extends object>(type: Class<User>): User | undefined {
    this.#state.isChecked = true
    if (this.failure) throw this.failure
    return this.peek(requireClass(type))
  }

  /** The authenticated user of that class. Throws `Unauthorized` if there is none, or `Undecided` if an authenticator failed. */
  require<User extends object>(type: Class<User>): User {
    const user = this.get(type)
    if (user) return user
    throw unauthorized(this.#state)
  }

  /** Whether a user of that class is authenticated. Throws `Undecided` if an authenticator failed. */
  has(type: Class): boolean {
    return this.get(type) !== undefined
  }

  /** For pages: whether the user of that class authenticated within a duration such as `10m`. Does not count as a check. */
  isFresh(type: Class, within: Duration): boolean {
    return isFresh(this.authentication(requireClass(type)), within)
  }

  /** When and how the user of that class authenticated. `undefined` if that is unknown, as for a token. Does not count as a check. */
  authentication(type: Class): Authentication | undefined {
    const entry = this.#state.users.get(type)
    return entry?.authentication ?? entry?.by?.recorded?.(this.#state.ctx)
  }

  /** Like `get`, but never throws. Does not count as a check, so the warning of a missing guard remains. For logs and public pages. */
  peek<User extends object>(type: Class<User>): User | undefined {
    // `login` has checked the class of the user.
    return this.#state.user(type) as User | undefined
  }

  /** The authenticator that logged in the user of that class. `undefined` if a handler did so, or without a user. */
  by(type: Class): Authenticator | undefined {
    return this.#state.users.get(type)?.by
  }

  /** The error of a failed authenticator. A public page may render without a user then. */
  get failure(): Undecided | undefined {
    return this.#state.failure
  }
}

/** Ignores the session for the rest of the request, so that only credentials in the request count. Logs out the user of that class, but not the session. */
export function ignoreSession(ctx: AuthContext, type: Class): void {
  stateOf(ctx).present(type)
}

/** Whether credentials in the request take the place of the session: an `Authorization` header, a sign-in form, or after `ignoreSession`. */
export function credentialsSent(ctx: AuthContext): boolean {
  return stateOf(ctx).credentialsSent
}

/** Records an error from outside the authenticators, such as from a session store. Guards then respond with 503. */
export function reportFailure(ctx: AuthContext, cause: unknown): void {
  stateOf(ctx).fail(cause)
}

/** The challenges of the route's authenticators so far, for a 401 of your own (RFC 9110 §11.6.1). */
export function challengesOf(ctx: AuthContext): string[] {
  return challengesFor(stateOf(ctx))
}
