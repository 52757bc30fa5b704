import type { ExtendableContext } from 'koa'
import { type Authentication, type Duration, isFresh, type LoginOptions } from './authentication.ts'
import { type Class, classOf, requireClass, requireInstance } from './class.ts'
import { type AuthenticatorFor, authenticationOf, type Entry, entryOf, loggedOut } from './entry.ts'
import { isHTTPError, Misuse, requireNoUser, requireSync, Undecided } from './errors.ts'
import { type Presented, unauthorized } from './unauthorized.ts'
import { warnOfIneffectiveLogout, warnOfUnguarded } from './warnings.ts'

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

/** The interface of an authenticator. Extend `RequestAuthenticator` to make one. */
export type Authenticator = AuthenticatorFor<AuthContext>

/** The authenticated users of one request, by class. */
export class Auth {
  readonly #ctx: AuthContext
  readonly #users = new Map<Class, Entry<AuthContext>>()
  readonly #authenticators: Authenticator[] = []
  readonly #listeners: (() => void)[] = []
  #current: Authenticator | undefined
  #failure: Undecided | undefined
  #presented: Presented | undefined
  #isChecked = false
  #needsCheck = false

  constructor(ctx: AuthContext) {
    this.#ctx = ctx
  }

  /** Stores the user for the class `type`. In a handler, this is a sign-in. Throws `Misuse` if the user is not of that class. */
  login<User extends object>(user: User, type = classOf(user), options: LoginOptions = {}): void {
    requireInstance(user, type)
    this.#users.set(type, entryOf(user, this.#current, options))
    this.#isChecked ||= this.#current === undefined
    for (const listener of this.#listeners) listener()
  }

  /** The authenticated user of that class, or `undefined`. Throws `Undecided` if an authenticator failed. */
  get<User extends object>(type: Class<User>): User | undefined {
    this.#isChecked = true
    if (this.#failure) throw this.#failure
    return this.peek(requireClass(type))
  }

  /** The authenticated user of that class. Throws `Unauthorized` if there is none, or `Undecided` if an authenticator failed. */
  require<User extends object>(type: Class<User>): User {
    const user = this.get(type)
    if (user) return user
    throw unauthorized(this.#ctx, this.#authenticators, { presented: this.#presented, users: this.#users })
  }

  /** Whether a user of that class is authenticated. Throws `Undecided` if an authenticator failed. */
  has(type: Class): boolean {
    return this.get(type) !== undefined
  }

  /** Removes the user of that class from this request, and from the session after the handler. */
  logout(type: Class): void {
    this.#isChecked = true
    const isKnown = this.#users.has(type) || this.#authenticators.some(({ user }) => user === type)
    if (!isKnown) warnOfIneffectiveLogout(this.#ctx, type)
    this.#users.set(type, loggedOut)
  }

  /** Like `get`, but never throws. Does not count as a check, so the warning of a missing guard remains. For logs and public pages. */
  peek<User extends object>(type: Class<User>): User | undefined {
    // `login` has checked the class of the user.
    return this.#users.get(type)?.user as User | undefined
  }

  /** The authenticator that logged in the user of that class. `undefined` if a handler did so, or without a user. */
  by(type: Class): Authenticator | undefined {
    return this.#users.get(type)?.by
  }

  /** When and how the user of that class authenticated. `undefined` if that is unknown, as for a token. Does not count as a check. */
  authentication(type: Class): Authentication | undefined {
    return authenticationOf(this.#users.get(type), this.#ctx)
  }

  /** For pages: whether the user of that class authenticated within a duration such as `10m`. Does not count as a check. */
  isFresh(type: Class, within: Duration): boolean {
    return isFresh(this.authentication(requireClass(type)), within)
  }

  /** The authenticators of the route so far, in order. A 401 carries their challenges. */
  get authenticators(): readonly Authenticator[] {
    return this.#authenticators
  }

  /** The error of a failed authenticator. A public page may render without a user then. */
  get failure(): Undecided | undefined {
    return this.#failure
  }

  /** Records an error from outside the authenticators, such as from a session store. */
  fail(cause: unknown): void {
    this.#failure ??= new Undecided(cause)
  }

  /** Whether the request has an `Authorization` header, or `present` was called. If so, session authenticators are skipped. */
  get credentialsSent(): boolean {
    return this.#presented !== undefined || this.#ctx.req.headers.authorization !== undefined
  }

  /** Skips later session authenticators and removes the user of that class, so that only credentials in the request count. */
  present(type: Class): void {
    this.#presented = this.#current ? 'authenticator' : (this.#presented ?? 'handler')
    if (this.peek(type)) this.#users.delete(type)
  }

  /** For authenticators: calls the listener after each later `login`. */
  onLogin(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Whether `logout` was called for that class, without a later `login`. */
  isLoggedOut(type: Class): boolean {
    return this.#users.get(type) === loggedOut
  }

  /** Throws `Misuse` while an authenticator is at work. Then the user is not known yet, and a login would count as its own. */
  requireIdle(): void {
    if (!this.#current) return
    const name = this.#current.user.name
    throw new Misuse(
      `An authenticator of ${name} is still at work. Write \`await\` or \`return\` before the call of its middleware.`,
    )
  }

  /** Runs an authenticator. Rethrows an HTTP error, such as from `ctx.throw`. Records any other error as `failure`. */
  async attempt(authenticator: Authenticator): Promise<void> {
    this.requireIdle()
    this.#authenticators.push(authenticator)
    this.#needsCheck ||= !authenticator.isForEveryPage || '_matchedRoute' in this.#ctx
    if (this.#failure || requireSync(authenticator.isSkipped(this.#ctx), '`isSkipped`')) return
    this.#current = authenticator
    try {
      requireNoUser(await authenticator.attempt(this.#ctx), this.peek(authenticator.user))
    } catch (error) {
      // A failed attempt is not trusted, even if it logged in a user first.
      for (const [type, { by }] of this.#users) if (by === authenticator) this.#users.delete(type)
      if (isHTTPError(error)) throw error
      this.fail(error)
    } finally {
      this.#current = undefined
    }
  }

  /** Called by `auth()` after the handler. Reports an unhandled failure, or warns of a route without a guard. */
  close(): void {
    if (this.#isChecked) return
    if (this.#failure) this.#ctx.app.emit('error', this.#failure, this.#ctx)
    else if (this.#needsCheck) warnOfUnguarded(this.#ctx)
  }
}
