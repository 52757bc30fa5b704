import { type AuthContext, type AuthMiddleware, authOf } from './auth.ts'
import { type Find, RequestAuthenticator } from './authenticator.ts'
import type { Class } from './class.ts'
import { lacksCrossSiteCheck } from './cross-site.ts'
import { Misuse } from './errors.ts'
import {
  dataOf,
  keepCookiesOnError,
  proveKey,
  type SessionContext,
  type SessionData,
  sessionOf,
} from './koa-session.ts'
import { warnOfNoCrossSiteCheck } from './warnings.ts'

/** A user that a session can remember (specification, "SessionAuthenticatable"). */
export interface SessionAuthenticatable {
  /** Identifies the user uniquely; it is all that the session keeps. */
  readonly sessionID: string
}

/** How a session authenticator remembers. */
export interface SessionOptions {
  /**
   * Whom to remember on the way out: `authenticated`, whoever is authenticated then, by a bearer token too (the
   * default, as the specification says); or `signed-in`, only who sent a log-in form or was logged in by a handler.
   */
  readonly remember?: 'authenticated' | 'signed-in'
  /**
   * The name in the session under which the identifier is kept; the name of the user's class by default, which a bundler may change:
   * whoever was signed in would be a visitor then.
   */
  readonly key?: string
}

/**
 * Restores a user from the session before the handler, and remembers or forgets on the way out, wherever it stands in
 * the chain (specification, "Session"). Needs a session middleware such as koa-session before it. A request that brings
 * credentials of its own is judged by them: the session is not read then.
 */
export abstract class SessionAuthenticator<
  User extends SessionAuthenticatable & object,
> extends RequestAuthenticator<User> {
  override readonly isForEveryPage = true
  readonly #options: SessionOptions

  constructor(options: SessionOptions = {}) {
    super()
    const { remember = 'authenticated' } = options
    if (remember !== 'authenticated' && remember !== 'signed-in')
      throw new Misuse('A session can `remember` whoever is "authenticated", or who is "signed-in".')
    if (options.key !== undefined) proveKey(options.key)
    this.#options = options
  }

  /**
   * The middleware over a look-up of your own, for users that are kept in a way that no other kind knows:
   * `SessionAuthenticator.from(User, (id) => users.get(id))`.
   */
  static from<User extends SessionAuthenticatable & object>(
    user: Class<User>,
    find: Find<NoInfer<User>>,
    options: SessionOptions = {},
  ): AuthMiddleware {
    return new FoundBySession(user, find, options).middleware()
  }

  /** Called with the identifier that the session holds. Calls `ctx.auth.login` if there still is such a user. */
  abstract authenticate(sessionID: string, ctx: AuthContext): void | Promise<void>

  /** The name in the session under which the identifier is kept. */
  get key(): string {
    return this.#options.key ?? this.user.name
  }

  override attempt(ctx: AuthContext): void | Promise<void> {
    const sessionID = sessionOf(ctx)[this.key]
    if (typeof sessionID === 'string') return this.authenticate(sessionID, ctx)
  }

  override isSpared(ctx: AuthContext): boolean {
    return super.isSpared(ctx) || ctx.auth.credentialsSent
  }

  override middleware(): AuthMiddleware {
    proveKey(this.key)
    return async (ctx: SessionContext, next) => {
      const store = authOf(ctx)
      if (lacksCrossSiteCheck(ctx)) warnOfNoCrossSiteCheck(ctx)
      const before = dataOf(sessionOf(ctx))
      const saved = JSON.stringify(before)
      this.#refuseSharedKey(ctx)
      this.#startAfresh(ctx, before)
      store.onLogin(() => this.#startAfresh(ctx, before))
      const attempt = store.attempt(this)
      if (attempt) await attempt
      try {
        await next()
      } catch (error) {
        // koa-session saves after an error too. What the handler wrote is not to be kept, but a logout counts.
        if (ctx.session) ctx.session = JSON.parse(saved)
        const loggedOut = sessionAuthenticators(ctx).filter((each) => store.isLoggedOut(each.user))
        for (const each of loggedOut) each.#forget(ctx)
        if (loggedOut.length > 0 || ctx.session === null) keepCookiesOnError(ctx)
        throw error
      }
      const user = store.peek(this.user)
      if (store.isLoggedOut(this.user)) this.#forget(ctx)
      else if (user && this.#isNew(ctx, before))
        await (ctx.headerSent ? this.#restore(ctx, saved) : this.#remember(ctx, user))
    }
  }

  /** Leaves the session as it was, because it is too late for a cookie. A lost sign-in is reported. */
  #restore(ctx: SessionContext, saved: string): void {
    if (ctx.session) ctx.session = JSON.parse(saved)
    const by = ctx.auth.by(this.user)
    if (by && !by.signsIn) return
    const late = new Misuse(
      'A user signed in after the response headers were sent, so no session was started.',
    )
    ctx.app.emit('error', late, ctx)
  }

  async #remember(ctx: AuthContext, user: User): Promise<void> {
    const session = sessionOf(ctx)
    if (typeof session.regenerate !== 'function') {
      throw new Misuse(
        'This session cannot change its identifier: mount koa-session, which has `regenerate()`.',
      )
    }
    session[this.key] = user.sessionID
    const { maxAge } = session
    await session.regenerate()
    // koa-session saves here and once more at the end, and has forgotten by then that it ends with the browser.
    if (maxAge === 'session') session.maxAge = maxAge
  }

  /** What is in the session before a log-in may be somebody else's, and goes; what is written from then on stays. */
  #startAfresh(ctx: SessionContext, before: SessionData): void {
    const { session } = ctx
    if (!session || !this.#isNew(ctx, before)) return
    for (const [name, value] of Object.entries(dataOf(session))) {
      if (value === before[name] && !isSomebodyElse(ctx, name)) delete session[name]
    }
  }

  #isNew(ctx: AuthContext, before: SessionData): boolean {
    const user = ctx.auth.peek(this.user)
    const by = ctx.auth.by(this.user)
    if (!user || by instanceof SessionAuthenticator) return false
    const isSignIn = !by || by.signsIn
    if (!isSignIn && (this.#options.remember === 'signed-in' || before[this.key] === user.sessionID))
      return false
    if (typeof user.sessionID !== 'string')
      throw new Misuse(`The \`sessionID\` of ${this.user.name} is a text: no other would be known again.`)
    return true
  }

  #forget(ctx: SessionContext): void {
    const session = ctx.session
    if (!session) return
    delete session[this.key]
    // Without anybody in it the session ends, whatever else it holds.
    if (!Object.keys(dataOf(session)).some((name) => isSomebodyElse(ctx, name))) ctx.session = null
  }

  #refuseSharedKey(ctx: AuthContext): void {
    const isOther = (each: RequestAuthenticator) =>
      each instanceof SessionAuthenticator && each.key === this.key && each.user !== this.user
    if (ctx.auth.authenticators.some(isOther)) {
      throw new Misuse(
        `Two user types are kept in the session as "${this.key}". Give one of them another \`key\`.`,
      )
    }
  }
}

class FoundBySession<User extends SessionAuthenticatable & object> extends SessionAuthenticator<User> {
  readonly user: Class<User>
  readonly #find: Find<User>

  constructor(user: Class<User>, find: Find<User>, options: SessionOptions) {
    super(options)
    this.user = user
    this.#find = find
  }

  override async authenticate(sessionID: string, ctx: AuthContext): Promise<void> {
    const user = await this.#find(sessionID, ctx)
    if (user) ctx.auth.login(user, this.user)
  }
}

export { SessionAuthenticator as AsyncSessionAuthenticator }

function sessionAuthenticators(ctx: AuthContext): SessionAuthenticator<SessionAuthenticatable & object>[] {
  return ctx.auth.authenticators.filter((each) => each instanceof SessionAuthenticator)
}

/** Whether that entry of the session is another user type's, who is authenticated on this request too. */
function isSomebodyElse(ctx: AuthContext, name: string): boolean {
  return sessionAuthenticators(ctx).some(
    (each) => each.key === name && ctx.auth.peek(each.user) !== undefined,
  )
}
