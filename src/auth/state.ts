import type { ExtendableContext } from 'koa'
import { type Authentication, authenticationNow, type LoginOptions } from './authentication.ts'
import { type Class, requireInstance, requireSync } from './checks.ts'
import { isHTTPError, Misuse, Undecided } from './errors.ts'
import { warnOfUnguarded } from './warnings.ts'

/**
 * The interface of an authenticator. Extend `RequestAuthenticator` to make one, which documents the members. `auth()` has set
 * `ctx.auth` before it calls them.
 */
export interface Authenticator {
  readonly user: Class
  readonly signsIn: boolean
  readonly methods?: readonly string[] | undefined
  attempt(ctx: ExtendableContext): unknown
  challenge(ctx: ExtendableContext, maxAge?: number): string | undefined
  isSkipped(ctx: ExtendableContext): boolean
  /** For sessions: when and how the user authenticated in an earlier request. */
  recorded?(ctx: ExtendableContext): Authentication | undefined
}

/** A logged-in user. `by` is the authenticator that logged the user in, and `undefined` if a handler did. The entry is empty after `logout`. */
export interface Entry {
  readonly user?: object
  readonly by?: Authenticator | undefined
  readonly authentication?: Authentication | undefined
  /** Whether the user is from `actingAs`. Sessions do not store such a user. */
  readonly isGiven?: true
}

/** On a request: the users with whom `auth()` begins. Only `actingAs` sets it, in the same process. */
export const givenUsers = Symbol('users of actingAs')

/** A request of `actingAs`. */
export interface GivenUsers {
  [givenUsers]?: readonly [type: Class, Entry][]
}

const loggedOut: Entry = {}

/** What `auth()` keeps for one request. Handlers see it through `ctx.auth`, authenticators and guards through `stateOf(ctx)`. */
export class RequestState {
  readonly ctx: ExtendableContext
  readonly users: Map<Class, Entry>
  /** The authenticators of the route so far, in order. A 401 carries their challenges. */
  readonly authenticators: Authenticator[] = []
  /** Called after each `login`. */
  readonly listeners: (() => void)[] = []
  /** Who found credentials that take the place of the session: an authenticator in the body, or a handler. */
  presented: 'authenticator' | 'handler' | undefined
  /** Whether a guard or a handler has asked for the user, so that no warning of a missing guard is due. */
  isChecked = false
  failure: Undecided | undefined
  #current: Authenticator | undefined
  #needsCheck = false

  constructor(ctx: ExtendableContext) {
    this.ctx = ctx
    this.users = new Map((ctx.req as GivenUsers)[givenUsers])
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
    return this.presented !== undefined || this.ctx.req.headers.authorization !== undefined
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
  async attempt(authenticator: Authenticator): Promise<void> {
    this.requireIdle()
    this.authenticators.push(authenticator)
    // A session authenticator may run on public pages, before the router.
    this.#needsCheck ||= !authenticator.recorded || '_matchedRoute' in this.ctx
    if (this.failure || requireSync(authenticator.isSkipped(this.ctx), '`isSkipped`')) return
    this.#current = authenticator
    try {
      const user = await authenticator.attempt(this.ctx)
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
    if (this.failure) this.ctx.app.emit('error', this.failure, this.ctx)
    else if (this.#needsCheck) warnOfUnguarded(this.ctx)
  }
}
