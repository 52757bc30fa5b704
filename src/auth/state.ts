import type { ExtendableContext } from 'koa'
import { type Authentication, authenticationNow, type LoginOptions } from './authentication.ts'
import { type Class, classOf, requireInstance, requireSync } from './checks.ts'
import { isHTTPError, Misuse, Undecided } from './errors.ts'
import { warnOfUnguarded } from './warnings.ts'

/** An authenticator for contexts of the type `Context`. `RequestAuthenticator` documents the members. */
export interface AuthenticatorFor<Context> {
  readonly user: Class
  readonly signsIn: boolean
  readonly methods?: readonly string[] | undefined
  attempt(ctx: Context): unknown
  challenge(ctx: Context, maxAge?: number): string | undefined
  isSkipped(ctx: Context): boolean
  /** For sessions: when and how the user authenticated in an earlier request. */
  recorded?(ctx: Context): Authentication | undefined
}

/** A logged-in user. `by` is the authenticator that logged the user in, and `undefined` if a handler did. The entry is empty after `logout`. */
export interface Entry<Context> {
  readonly user?: object
  readonly by?: AuthenticatorFor<Context> | undefined
  readonly authentication?: Authentication | undefined
  /** Whether the user is from `actingAs`. Sessions do not store such a user. */
  readonly isGiven?: true
}

/** On a request: the users with whom `auth()` begins. Only `actingAs` sets it, in the same process. */
export const givenUsers = Symbol('users of actingAs')

/** A request of `actingAs`. */
export interface GivenUsers {
  [givenUsers]?: { readonly users: readonly object[]; readonly authentication: Authentication | undefined }
}

const loggedOut: Entry<never> = {}

/** What `auth()` keeps for one request. Handlers see it through `ctx.auth`, authenticators and guards through `stateOf(ctx)`. */
export class RequestState<Context extends ExtendableContext> {
  readonly #ctx: Context
  readonly users = new Map<Class, Entry<Context>>()
  /** The authenticators of the route so far, in order. A 401 carries their challenges. */
  readonly authenticators: AuthenticatorFor<Context>[] = []
  /** Called after each `login`. */
  readonly listeners: (() => void)[] = []
  /** Who found credentials that take the place of the session: an authenticator in the body, or a handler. */
  presented: 'authenticator' | 'handler' | undefined
  /** Whether a guard or a handler has asked for the user, so that no warning of a missing guard is due. */
  isChecked = false
  failure: Undecided | undefined
  #current: AuthenticatorFor<Context> | undefined
  #needsCheck = false

  constructor(ctx: Context) {
    this.#ctx = ctx
    const given = (ctx.req as GivenUsers)[givenUsers]
    if (!given) return
    const { users, authentication } = given
    for (const user of users) this.users.set(classOf(user), { user, authentication, isGiven: true })
  }

  user(type: Class): object | undefined {
    return this.users.get(type)?.user
  }

  login(user: object, type: Class, { methods, at }: LoginOptions): void {
    requireInstance(user, type)
    const by = this.#current
    this.users.set(type, { user, by, authentication: authenticationNow(by, methods, at) })
    this.isChecked ||= by === undefined
    for (const listener of this.listeners) listener()
  }

  logout(type: Class): void {
    this.users.set(type, loggedOut)
  }

  /** Whether `logout` was called for that class, without a later `login`. */
  isLoggedOut(type: Class): boolean {
    return this.users.get(type) === loggedOut
  }

  fail(cause: unknown): void {
    this.failure ??= new Undecided(cause)
  }

  present(type: Class): void {
    this.presented = this.#current ? 'authenticator' : (this.presented ?? 'handler')
    if (this.user(type)) this.users.delete(type)
  }

  /** Whether the request has an `Authorization` header, or `present` was called. If so, session authenticators are skipped. */
  get credentialsSent(): boolean {
    return this.presented !== undefined || this.#ctx.req.headers.authorization !== undefined
  }

  /** Throws `Misuse` while an authenticator is at work. Then the user is not known yet, and a login would count as its own. */
  requireIdle(): void {
    if (!this.#current) return
    const name = this.#current.user.name
    throw new Misuse(
      `An authenticator of ${name} is still at work. Write \`await\` or \`return\` before the call of its middleware.`,
    )
  }

  /** Runs an authenticator and logs in the user that it returns. Rethrows an HTTP error, such as from `ctx.throw`. Records any other error as `failure`. */
  async attempt(authenticator: AuthenticatorFor<Context>): Promise<void> {
    this.requireIdle()
    this.authenticators.push(authenticator)
    // A session authenticator may run on public pages, before the router.
    this.#needsCheck ||= !authenticator.recorded || '_matchedRoute' in this.#ctx
    if (this.failure || requireSync(authenticator.isSkipped(this.#ctx), '`isSkipped`')) return
    this.#current = authenticator
    try {
      const user = await authenticator.attempt(this.#ctx)
      // A class that called `ctx.auth.login` may return the same user. Its `methods` and `at` stay.
      if (user && user !== this.user(authenticator.user)) this.login(user, authenticator.user, {})
    } catch (error) {
      // A failed attempt is not trusted, even if it logged in a user first.
      for (const [type, { by }] of this.users) if (by === authenticator) this.users.delete(type)
      if (isHTTPError(error)) throw error
      this.fail(error)
    } finally {
      this.#current = undefined
    }
  }

  /** Called by `auth()` after the handler. Reports an unhandled failure, or warns of a route without a guard. */
  close(): void {
    if (this.isChecked) return
    if (this.failure) this.#ctx.app.emit('error', this.failure, this.#ctx)
    else if (this.#needsCheck) warnOfUnguarded(this.#ctx)
  }
}
