import { validateHeaderValue } from 'node:http'
import type { ExtendableContext, Next } from 'koa'
import type { RequestAuthenticator } from './authenticator.ts'
import { type Class, proveClass } from './class.ts'
import { atOnce, isAnswer, Misuse, Unauthorized, Undecided } from './errors.ts'
import { find, type LoggedIn, without } from './logged-in.ts'
import { warnOfIneffectiveLogout, warnOfUnguarded } from './warnings.ts'

/** Koa's context with the store on it. Give it to the router, so that a misspelt `ctx.atuh` does not compile. */
export interface AuthContext extends ExtendableContext {
  readonly auth: Auth
}

/** A Koa middleware that finds the store on its context. */
export type AuthMiddleware = (ctx: AuthContext, next: Next) => unknown

// Of all requests that put nothing in its place: frozen, since whoever got hold of it would put it into all of them.
const none: readonly never[] = Object.freeze([])

/** The store of one request (specification, "Request-level authentication store"). */
export class Auth {
  readonly #ctx: AuthContext
  #authenticators: readonly RequestAuthenticator[] = none
  #users: LoggedIn | undefined
  #loggedOut: readonly Class[] = none
  #listeners: readonly (() => void)[] = none
  #trying: RequestAuthenticator | undefined
  #failure: Undecided | undefined
  #credentialsSent = false
  #asked = false
  #isToBeAsked = false

  constructor(ctx: AuthContext) {
    this.#ctx = ctx
    this.#credentialsSent = ctx.req.headers.authorization !== undefined
  }

  /**
   * Marks `user` as authenticated for this request, in place of any other of its class. Throws `Misuse` if it is none of
   * that class: whoever asks for the class would get something else.
   */
  login<User extends object>(user: User, type: Class<User> = user?.constructor as Class<User>): void {
    proveClass(type)
    if (!(user instanceof type)) throw new Misuse(`Log in an instance of ${type.name}: this is none.`)
    this.withdraw(type)
    this.#users = { type, user, by: this.#trying, before: this.#users }
    if (this.#loggedOut.length > 0) this.#loggedOut = this.#loggedOut.filter((each) => each !== type)
    this.#asked ||= this.#trying === undefined
    for (const listener of this.#listeners) listener()
  }

  /** The authenticated user of that class, or `undefined`. Throws `Undecided` if nobody could tell, never for absence. */
  get<User extends object>(type: Class<User>): User | undefined {
    this.#asked = true
    if (this.#failure) throw this.#failure
    return this.peek(type)
  }

  /** The authenticated user of that class; throws `Unauthorized`, with the challenges, if there is none. */
  require<User extends object>(type: Class<User>): User {
    const user = this.get(type)
    if (!user) throw new Unauthorized(this.#challenges())
    return user
  }

  /** Whether a user of that class is authenticated. Throws `Undecided` if nobody could tell. */
  has(type: Class): boolean {
    return this.get(type) !== undefined
  }

  /** The authenticators that stood before, in order: a 401 carries their challenges. */
  get authenticators(): readonly RequestAuthenticator[] {
    return this.#authenticators
  }

  /** Removes the user of that class from this request, and from the session on the way out. */
  logout(type: Class): void {
    this.#asked = true
    if (!find(this.#users, type) && !this.#authenticators.some(({ user }) => user === type))
      warnOfIneffectiveLogout(this.#ctx, type)
    this.withdraw(type)
    this.#loggedOut = added(this.#loggedOut, type)
  }

  /** The authenticator that vouches for the user of that class; `undefined` if a handler logged it in, or nobody did. */
  by(type: Class): RequestAuthenticator | undefined {
    return find(this.#users, type)?.by
  }

  /** Why nobody can tell who this is; a public page may look here, and render as for a visitor. */
  get failure(): Undecided | undefined {
    return this.#failure
  }

  /** Notes that nobody can tell who this is, where something before the authenticators found out. */
  fail(cause: unknown): void {
    this.#failure ??= new Undecided(cause)
  }

  /** Whether the request brought credentials of its own: they decide alone, and the session is not asked. */
  get credentialsSent(): boolean {
    return this.#credentialsSent
  }

  /** Credentials were found elsewhere, in the body, say: they decide alone, and what a session restored no longer counts. */
  present(type: Class): void {
    this.#credentialsSent = true
    this.withdraw(type)
  }

  /** For authenticators: calls back at every `login` from now on. */
  onLogin(listener: () => void): void {
    this.#listeners = added(this.#listeners, listener)
  }

  /** What `get` returns, for whoever only looks on: it does not count as a question, and never throws. */
  peek<User extends object>(type: Class<User>): User | undefined {
    // With each class stands only what `login` took as a value of that class.
    return find(this.#users, type)?.user as User | undefined
  }

  /** For authenticators: removes the user of that class from this request, and leaves the session alone. */
  withdraw(type: Class): void {
    if (find(this.#users, type)) this.#users = without(this.#users, (each) => each.type === type)
  }

  /** Whether `logout` was called for that class, and no `login` since. */
  isLoggedOut(type: Class): boolean {
    return this.#loggedOut.includes(type)
  }

  /**
   * Lets an authenticator try, and goes on. What it throws is kept for whoever asks who this is, unless it is an answer, as
   * `ctx.throw` makes it. Without a promise where there is nothing to wait for.
   *
   * @param next what comes behind it: what that returns is returned, and what that throws is thrown
   */
  attempt(authenticator: RequestAuthenticator, next?: Next): Promise<unknown> | undefined {
    this.#authenticators = added(this.#authenticators, authenticator)
    this.#isToBeAsked ||= !authenticator.isForEveryPage || '_matchedRoute' in this.#ctx
    if (this.#failure || atOnce(authenticator.isSpared(this.#ctx), '`isSpared`')) return next?.()
    this.#trying = authenticator
    try {
      const attempt = authenticator.attempt(this.#ctx)
      if (attempt) return this.#settle(authenticator, attempt, next)
    } catch (error) {
      this.#fails(authenticator, error)
    }
    this.#trying = undefined
    return next?.()
  }

  /** For `auth()`: the response is ready. Reports what nobody asked about. */
  close(): void {
    if (this.#asked) return
    if (this.#failure) this.#ctx.app.emit('error', this.#failure, this.#ctx)
    else if (this.#isToBeAsked) warnOfUnguarded(this.#ctx)
  }

  // It waits for what is behind it, too: a promise that is given another one looks for its `then`, a turn of the queue later.
  async #settle(authenticator: RequestAuthenticator, attempt: Promise<void>, next?: Next): Promise<unknown> {
    try {
      await attempt
    } catch (error) {
      this.#fails(authenticator, error)
    }
    this.#trying = undefined
    return next && (await next())
  }

  #fails(authenticator: RequestAuthenticator, error: unknown): void {
    this.#trying = undefined
    // Not even half: whom it has logged in by then may not be who they say.
    this.#users = without(this.#users, ({ by }) => by === authenticator)
    if (isAnswer(error)) throw error
    this.fail(error)
  }

  #challenges(): string[] {
    const challenges = this.#authenticators.map((each) => atOnce(each.challenge(this.#ctx), '`challenge`'))
    const known = [...new Set(challenges.filter((each) => each !== undefined))]
    // Koa would send it with an error, where nobody could catch what Node throws.
    for (const each of known) validateHeaderValue('WWW-Authenticate', each)
    return known
  }
}

/**
 * Puts an empty store on the context of every request. Goes before every authenticator and guard. Requests that come together go
 * on together from here, when all of them have been read.
 */
export function auth(...none: []): (ctx: ExtendableContext & { auth?: Auth }, next: Next) => Promise<void> {
  if (none.length > 0) throw new Misuse('Call it: `app.use(auth())`, with parentheses.')
  return async (ctx, next) => {
    if (ctx.auth) {
      // Mounted twice, the first store stays.
      authOf(ctx)
      return next()
    }
    const store = new Auth(ctx as AuthContext)
    ctx.auth = store
    await endOfTurn()
    await next()
    store.close()
  }
}

let end: Promise<void> | undefined
function endOfTurn(): Promise<void> {
  end ??= new Promise((resolve) =>
    setImmediate(() => {
      end = undefined
      resolve()
    }),
  )
  return end
}

/** The store of a request. Throws `Misuse` without `auth()` before, or if `ctx.auth` is another library's value. */
export function authOf(ctx: { auth?: unknown }): Auth {
  if (ctx.auth instanceof Auth) return ctx.auth
  if (!ctx.auth) throw new Misuse('Add `app.use(auth())` before the first authenticator, guard or redirect.')
  throw new Misuse(
    'Another library has set `ctx.auth`, or a second copy of koa-authenticators. Keep only one.',
  )
}

/** With that one at its end. What V8 gives a list that grows is room for sixteen more, and most lists are of one. */
function added<Value>(list: readonly Value[], value: Value): readonly Value[] {
  return list.length === 0 ? [value] : [...list, value]
}
