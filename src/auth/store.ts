import type { ExtendableContext } from 'koa'
import { type Class, proveClass } from './class.ts'
import { atOnce, isAnswer, Misuse, Unauthorized, Undecided } from './errors.ts'
import { warnOfIneffectiveLogout, warnOfUnguarded } from './warnings.ts'

/** Koa's context with the store. A router of this context type does not compile a misspelt `ctx.atuh`. */
export interface AuthContext extends ExtendableContext {
  readonly auth: Auth
}

/** An authenticator as the store sees it. Extend `RequestAuthenticator` to make one. */
export interface Authenticator {
  readonly user: Class
  readonly signsIn: boolean
  readonly isForEveryPage: boolean
  attempt(ctx: AuthContext): void | Promise<void>
  challenge(ctx: AuthContext): string | undefined
  isSpared(ctx: AuthContext): boolean
}

/** A user, and the authenticator that logged it in, if a handler did not. Empty after `logout`. */
type Entry = { readonly user?: object; readonly by?: Authenticator | undefined }
const loggedOut: Entry = {}

/** The authenticated users of one request, by class. */
export class Auth {
  readonly #ctx: AuthContext
  readonly #users = new Map<Class, Entry>()
  readonly #authenticators: Authenticator[] = []
  readonly #listeners: (() => void)[] = []
  #current: Authenticator | undefined
  #failure: Undecided | undefined
  #hasPresented = false
  #isAsked = false
  #needsQuestion = false

  constructor(ctx: AuthContext) {
    this.#ctx = ctx
  }

  /** Marks `user` as authenticated, in place of another user of its class. Throws `Misuse` if it is not of that class. */
  login<User extends object>(user: User, type: Class<User> = user?.constructor as Class<User>): void {
    proveClass(type)
    if (!(user instanceof type))
      throw new Misuse(`Log in an instance of ${type.name}: this value is not one.`)
    this.#users.set(type, { user, by: this.#current })
    this.#isAsked ||= this.#current === undefined
    for (const listener of this.#listeners) listener()
  }

  /** The authenticated user of that class, or `undefined`. Throws `Undecided` if an authenticator failed. */
  get<User extends object>(type: Class<User>): User | undefined {
    this.#isAsked = true
    if (this.#failure) throw this.#failure
    return this.peek(type)
  }

  /** The authenticated user of that class. Throws `Unauthorized`, with the challenges, if there is none. */
  require<User extends object>(type: Class<User>): User {
    const user = this.get(type)
    if (user) return user
    const challenge = (each: Authenticator) => atOnce(each.challenge(this.#ctx), '`challenge`')
    throw new Unauthorized(this.#authenticators.map(challenge))
  }

  /** Whether a user of that class is authenticated. Throws `Undecided` if an authenticator failed. */
  has(type: Class): boolean {
    return this.get(type) !== undefined
  }

  /** Removes the user of that class from this request, and from the session when the handler has ended. */
  logout(type: Class): void {
    this.#isAsked = true
    const isKnown = this.#users.has(type) || this.#authenticators.some(({ user }) => user === type)
    if (!isKnown) warnOfIneffectiveLogout(this.#ctx, type)
    this.#users.set(type, loggedOut)
  }

  /** Like `get`, for logs and public pages: never throws, and does not count as a check of the user. */
  peek<User extends object>(type: Class<User>): User | undefined {
    // `login` has proven the class of the user.
    return this.#users.get(type)?.user as User | undefined
  }

  /** The authenticator that logged in the user of that class; `undefined` if a handler did, or there is none. */
  by(type: Class): Authenticator | undefined {
    return this.#users.get(type)?.by
  }

  /** The authenticators of the route so far, in order. A 401 carries their challenges. */
  get authenticators(): readonly Authenticator[] {
    return this.#authenticators
  }

  /** The reason why no user can be told; a public page may read it and render as for a visitor. */
  get failure(): Undecided | undefined {
    return this.#failure
  }

  /** Records a failure before the authenticators, such as that of a session store. */
  fail(cause: unknown): void {
    this.#failure ??= new Undecided(cause)
  }

  /** Whether the request brought credentials of its own. They alone decide, and the session is not read. */
  get credentialsSent(): boolean {
    return this.#hasPresented || this.#ctx.req.headers.authorization !== undefined
  }

  /** For authenticators: credentials were found, in the body for example. They replace a user of the session. */
  present(type: Class): void {
    this.#hasPresented = true
    if (this.peek(type)) this.#users.delete(type)
  }

  /** For authenticators: calls back after each `login` from now on. */
  onLogin(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Whether `logout` was called for that class, without a later `login`. */
  isLoggedOut(type: Class): boolean {
    return this.#users.get(type) === loggedOut
  }

  /** Runs an authenticator. An error is kept as `failure`, unless it is a response, as `ctx.throw` makes it. */
  async attempt(authenticator: Authenticator): Promise<void> {
    this.#authenticators.push(authenticator)
    this.#needsQuestion ||= !authenticator.isForEveryPage || '_matchedRoute' in this.#ctx
    if (this.#failure || atOnce(authenticator.isSpared(this.#ctx), '`isSpared`')) return
    this.#current = authenticator
    try {
      await authenticator.attempt(this.#ctx)
    } catch (error) {
      // A failed attempt is not trusted, even if it logged in a user first.
      for (const [type, { by }] of this.#users) if (by === authenticator) this.#users.delete(type)
      if (isAnswer(error)) throw error
      this.fail(error)
    } finally {
      this.#current = undefined
    }
  }

  /** For `auth()`, when the response is ready: reports a failure or a user that no code has asked for. */
  close(): void {
    if (this.#isAsked) return
    if (this.#failure) this.#ctx.app.emit('error', this.#failure, this.#ctx)
    else if (this.#needsQuestion) warnOfUnguarded(this.#ctx)
  }
}
