import { type AuthContext, type AuthMiddleware, stateOf } from './auth.ts'
import {
  type Find,
  RequestAuthenticator,
  requireFind,
  requireUser,
  type UserOrNothing,
} from './authenticator.ts'
import type { Class } from './checks.ts'
import { lacksCrossSiteCheck } from './cross-site.ts'
import { Misuse } from './errors.ts'
import * as koaSession from './koa-session.ts'
import { warnOfNoCrossSiteCheck } from './warnings.ts'

/** A user that a session can hold. */
export interface SessionAuthenticatable {
  /** The unique identifier of the user. The session stores it. */
  readonly sessionID: string
}

/** The options of a session authenticator. */
export interface SessionOptions {
  /** `signed-in` stores only the users of a sign-in form or of `login` in a handler. `authenticated`, the default, stores every user. */
  readonly remember?: 'authenticated' | 'signed-in'
  /** The key of the identifier in the session. By default the name of the class, which a minifier may change. */
  readonly key?: string
}

/** Restores a user from the session, and stores a new sign-in there. Mount it after koa-session or a similar middleware. */
export abstract class SessionAuthenticator<
  User extends SessionAuthenticatable & object = SessionAuthenticatable & object,
> extends RequestAuthenticator<User> {
  readonly #options: SessionOptions

  constructor(options: SessionOptions = {}) {
    super()
    const { remember = 'authenticated', key } = options
    if (remember !== 'authenticated' && remember !== 'signed-in')
      throw new Misuse('The option `remember` must be "authenticated" or "signed-in".')
    if (key !== undefined) koaSession.checkKey(key)
    this.#options = options
  }

  /** The middleware for a function: `SessionAuthenticator.from(User, (id) => users.get(id))`. */
  static from<User extends SessionAuthenticatable & object>(
    user: Class<User>,
    find: Find<NoInfer<User>>,
    options: SessionOptions = {},
  ): AuthMiddleware {
    class FromFunction extends SessionAuthenticator<User> {
      override readonly user = user
      override authenticate = requireFind(user, find)
    }
    return new FromFunction(options).middleware()
  }

  /** Looks up a user by the identifier in the session. Returns nothing if the user no longer exists. */
  abstract authenticate(sessionID: string, ctx: AuthContext): UserOrNothing<User>

  get key(): string {
    return this.#options.key ?? this.user.name
  }

  /** When and how the user of the session authenticated, recorded at the sign-in. */
  recorded(ctx: koaSession.SessionContext) {
    return koaSession.recordOf(ctx, this.key)
  }

  override attempt(ctx: AuthContext): UserOrNothing<User> {
    const sessionID = koaSession.sessionOf(ctx)[this.key]
    if (typeof sessionID === 'string') return this.authenticate(sessionID, ctx)
  }

  /** Also skipped if the request has an `Authorization` header, or a sign-in form, or after `ignoreSession`. */
  override isSkipped(ctx: AuthContext): boolean {
    return super.isSkipped(ctx) || stateOf(ctx).credentialsSent
  }

  override middleware(): AuthMiddleware {
    requireUser(this)
    koaSession.checkKey(this.key)
    return async (ctx: koaSession.SessionContext, next) => {
      const state = stateOf(ctx)
      if (lacksCrossSiteCheck(ctx)) warnOfNoCrossSiteCheck(ctx)
      const before = koaSession.dataOf(koaSession.sessionOf(ctx))
      const saved = JSON.stringify(before)
      this.#requireUniqueKey(ctx)
      this.#clearAtSignIn(ctx, before)
      state.listeners.push(() => this.#clearAtSignIn(ctx, before))
      await state.attempt(this)
      try {
        await next()
      } catch (error) {
        // Undoes all changes except a logout and `ctx.session = null`, because koa-session saves the session even after an error.
        koaSession.restore(ctx, saved)
        for (const { key, user } of sessionAuthenticators(ctx))
          if (state.isLoggedOut(user)) koaSession.remove(ctx, key, keysInUse(ctx))
        throw error
      }
      const user = ctx.auth.peek(this.user)
      if (state.isLoggedOut(this.user)) koaSession.remove(ctx, this.key, keysInUse(ctx))
      else if (user && this.#needsNewSession(ctx, before)) {
        if (!ctx.headerSent) return koaSession.save(ctx, this, user.sessionID)
        // No cookie can be set after the headers were sent.
        koaSession.restore(ctx, saved)
        if (this.#isSignIn(ctx)) ctx.app.emit('error', new Misuse(lateSignIn), ctx)
      }
    }
  }

  /** Clears the session at sign-in, so that data planted by an attacker does not survive (session fixation). */
  #clearAtSignIn(ctx: koaSession.SessionContext, before: koaSession.SessionData): void {
    if (this.#needsNewSession(ctx, before)) koaSession.clear(ctx, before, keysInUse(ctx))
  }

  #needsNewSession(ctx: AuthContext, before: koaSession.SessionData): boolean {
    const user = ctx.auth.peek(this.user)
    const { by, isGiven } = stateOf(ctx).users.get(this.user) ?? {}
    if (!user || isGiven || by instanceof SessionAuthenticator) return false
    const onlyAtSignIn = this.#options.remember === 'signed-in' || before[this.key] === user.sessionID
    if (onlyAtSignIn && !this.#isSignIn(ctx)) return false
    if (typeof user.sessionID === 'string') return true
    throw new Misuse(`The \`sessionID\` of ${this.user.name} must be a string.`)
  }

  /** Whether a form or a handler logged the user in. */
  #isSignIn(ctx: AuthContext): boolean {
    return ctx.auth.by(this.user)?.signsIn ?? true
  }

  #requireUniqueKey(ctx: AuthContext): void {
    const isOther = (each: SessionAuthenticator) => each.key === this.key && each.user !== this.user
    if (sessionAuthenticators(ctx).some(isOther))
      throw new Misuse(`Two user types have the session key "${this.key}". Give one of them another \`key\`.`)
  }
}

const lateSignIn = 'A user signed in after the response headers were sent, so no session was started.'

function sessionAuthenticators(ctx: AuthContext): SessionAuthenticator[] {
  return stateOf(ctx).authenticators.filter((each) => each instanceof SessionAuthenticator)
}

function keysInUse(ctx: AuthContext): string[] {
  return sessionAuthenticators(ctx).flatMap(({ key, user }) => (ctx.auth.peek(user) ? key : []))
}
