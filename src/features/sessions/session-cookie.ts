import type Koa from 'koa'
import type { Context, Middleware } from 'koa'
import session from 'koa-session'
import { HostCookie } from '../../site/host-cookie.ts'
import { newIdentifier } from '../../site/new-identifier.ts'
import { User } from '../../users/user.ts'
import { lifetime } from './session-limits.ts'
import { ownData, type SessionStore } from './session-store.ts'

/**
 * koa-session over our store: `ctx.session`, behind a cookie that holds 256 random bits and nothing else. If the store
 * cannot be read, nobody can tell who is signed in, and the request goes on.
 */
export function sessions(app: Koa, store: SessionStore, { isTls }: { isTls: boolean }): Middleware {
  const cookie = new HostCookie('session', { isTls })
  const koaSession = session(
    {
      key: cookie.name,
      maxAge: lifetime(false),
      // 256 bits that are looked up need no signature.
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
      // Where there is nothing to be read, `ctx.session` is a new one by itself.
      if (mayBringSession(ctx)) await koaSession(ctx, nothing)
      await commit(ctx, next)
    } catch (error) {
      // What failed starts no session, whatever was stored by then; one that has ended stays so.
      if (cookie.takeBack(ctx) && ctx.session === null) cookie.clear(ctx)
      throw error
    }
    if (ctx.session === null) cookie.clear(ctx)
  }
}

// Credentials that are sent decide alone: the session beside them is not even read.
function mayBringSession({ auth, req }: Context): boolean {
  return !auth.credentialsSent && req.headers.cookie !== undefined
}

async function nothing(): Promise<void> {}

/** The store as koa-session calls it. What was loaded or started on a request is updated from then on, never inserted. */
function storeFor(store: SessionStore, cookie: HostCookie) {
  const existing = new WeakMap<object, string>()
  const started = new WeakMap<object, string>()
  return {
    async get(id: string, _maxAge: number, options: StoreOptions) {
      const ctx = contextOf(options)
      try {
        const data = await store.get(id, ctx)
        if (data) existing.set(ctx, id)
        return data
      } catch (error) {
        ctx.auth.fail(error)
        return undefined
      }
    },
    async set(id: string, data: Record<string, unknown>, maxAge: number, options: StoreOptions) {
      const ctx = contextOf(options)
      // koa-session saves a new session twice.
      const content = `${id} ${JSON.stringify(ownData(data))}`
      if (started.get(ctx) === content) return
      if (existing.get(ctx) === id) return store.update(id, data)
      const isKept = maxAge > lifetime(false) + slack
      const passwordChangedAt = ctx.auth.peek(User)?.passwordChangedAt
      await store.start(id, data, { isKept, userAgent: ctx.get('User-Agent'), passwordChangedAt })
      existing.set(ctx, id)
      started.set(ctx, content)
    },
    async destroy(id: string, options: StoreOptions) {
      const ctx = contextOf(options)
      // koa-session makes an identifier for everybody, a stranger too, and most of them are stored nowhere.
      if (existing.get(ctx) === id) await store.destroy(id)
      // One that was not read because of the credentials beside it ends at logout all the same.
      const sent = cookie.read(ctx)
      if (sent !== undefined && sent !== id) await store.destroy(sent)
    },
  }
}

type StoreOptions = { ctx?: unknown }

function contextOf({ ctx }: StoreOptions): Context {
  // koa-session always passes it; only its types do not say so.
  return ctx as Context
}

// koa-session tells its stores to keep a session for ten seconds more than its cookie.
const slack = 10_000

// koa-session would save after an error too. What a handler wrote that threw is not saved; a logout counts.
async function commit(ctx: Context, next: () => Promise<unknown>): Promise<void> {
  const { session } = ctx
  try {
    await next()
  } catch (error) {
    if (ctx.session === null) await session.manuallyCommit()
    throw error
  }
  await session.manuallyCommit()
}
