import type Koa from 'koa'
import type { Context, Middleware } from 'koa'
import session from 'koa-session'
import { credentialsSent, reportFailure } from '#auth'
import { newIdentifier } from '../../database/identifier.ts'
import { HostCookie } from '../../site/host-cookie.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'
import { renewSession } from './current-session.ts'
import { ownData, type SessionStore } from './session-store.ts'
import { limits } from './stored-session.ts'

/**
 * Adds koa-session as `ctx.session`. The cookie holds a random identifier only. If the store cannot be read, the request
 * continues, and guards respond with 503.
 */
export function sessionCookie(app: Koa, store: SessionStore, { isTls }: { isTls: boolean }): Middleware {
  const cookie = new HostCookie('session', { isTls })
  const koaSession = session(
    {
      key: cookie.name,
      maxAge: limits.usual.absolute,
      signed: false,
      autoCommit: false,
      genid: newIdentifier,
      externalKey: {
        get: (ctx: Context) => cookie.read(ctx) ?? '',
        set: (ctx: Context, id: string) => cookie.write(ctx, id, ctx.session.maxAge),
      },
      store: storeFor(store, cookie),
    },
    app,
  )
  return async (ctx, next) => {
    try {
      // Reads the session. Otherwise, the first use of `ctx.session` would create a new one.
      if (mayUseSession(ctx)) await koaSession(ctx, async () => {})
      await commit(ctx, next)
    } catch (error) {
      // A failed request must not start a session. A logout remains in effect.
      if (cookie.takeBack(ctx) && ctx.session === null) cookie.clear(ctx)
      throw error
    }
    if (ctx.session === null) cookie.clear(ctx)
  }
}

// Credentials in the request take precedence over the session.
function mayUseSession(ctx: Context): boolean {
  return !credentialsSent(ctx) && ctx.req.headers.cookie !== undefined
}

// The requests whose new session replaces the one in the cookie.
const replacing = new WeakSet<object>()

/**
 * Gives the session of this request a new identifier after a proof of identity, and deletes the old row in the transaction that inserts
 * the new one. If the old session has ended, the request fails with 409, and no session starts.
 *
 * @param at when the user gave the proof
 */
export function replaceSession(
  ctx: SiteContext,
  user: User,
  methods: readonly string[],
  at = new Date(),
): void {
  renewSession(ctx, user, methods, at)
  replacing.add(ctx)
}

// Properties of the context. A `WeakMap` would cost time at each garbage collection.
const existing = Symbol('existing')
const started = Symbol('started')

/** Adapts the store to koa-session. A request inserts a session at most once, then updates it. */
function storeFor(store: SessionStore, cookie: HostCookie) {
  return {
    async get(id: string, _maxAge: number, options: StoreOptions) {
      const ctx = contextOf(options)
      try {
        const data = await store.get(id, ctx)
        if (data) ctx[existing] = id
        return data
      } catch (error) {
        reportFailure(ctx, error)
        return undefined
      }
    },
    async set(id: string, data: Record<string, unknown>, maxAge: number, options: StoreOptions) {
      const ctx = contextOf(options)
      // koa-session saves a new session twice. The second time, nothing is left to write.
      const content = `${id} ${JSON.stringify(ownData(data))}`
      if (ctx[started] === content) return
      if (ctx[existing] === id) return store.update(id, data)
      const isKept = maxAge > limits.usual.absolute + slack
      const account = ctx.auth.peek(User)
      const methods = ctx.auth.authentication(User)?.methods
      const client = { userAgent: ctx.get('User-Agent'), address: ctx.ip }
      const replaces = replacing.has(ctx) ? ctx[existing] : undefined
      await store.start(id, data, { isKept, ...client, account, methods, replaces })
      ctx[existing] = id
      ctx[started] = content
    },
    async destroy(id: string, options: StoreOptions) {
      const ctx = contextOf(options)
      // `store.start` deletes the replaced session in its own transaction.
      if (ctx[existing] === id && replacing.has(ctx)) return
      // koa-session also creates identifiers for visitors. Those are not in the store.
      if (ctx[existing] === id) await store.destroy(id)
      // A logout ends the session in the cookie, even if credentials took precedence over it.
      const sent = cookie.read(ctx)
      if (sent !== undefined && sent !== id) await store.destroy(sent)
    },
  }
}

type StoreOptions = { ctx?: unknown }

function contextOf({ ctx }: StoreOptions): Context {
  // koa-session always passes the context, but its types omit it.
  return ctx as Context
}

// The maximum age that koa-session passes to the store is ten seconds more than that of the cookie.
const slack = 10_000

// After an error, saves only a logout. koa-session itself would save every change.
async function commit(ctx: Context, next: () => Promise<unknown>): Promise<void> {
  const { session } = ctx
  try {
    await next()
  } catch (error) {
    if (ctx.session === null) await session.manuallyCommit()
    throw error
  }
  if (!isUntouched(ctx, session)) await session.manuallyCommit()
}

// A visitor without a cookie has no session to save or to delete, unless the request has used `ctx.session`.
function isUntouched(ctx: Context, session: Context['session']): boolean {
  return ctx.req.headers.cookie === undefined && ctx.session === session && session.length === 0
}
