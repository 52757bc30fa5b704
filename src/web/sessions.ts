import { randomBytes } from 'node:crypto'
import type Koa from 'koa'
import type { Middleware } from 'koa'
import session from 'koa-session'
import type { AuthContext } from '#auth'
import { lifetime, type SessionStore } from './session-store.ts'

/**
 * koa-session over our store: `ctx.session`, behind a cookie that holds 256 random bits and nothing else. If the store
 * cannot be read, nobody can tell who is signed in, and the request goes on.
 */
export function sessions(app: Koa, store: SessionStore, { isTls }: { isTls: boolean }): Middleware {
  const loaded = new WeakMap<AuthContext, string>()
  const koaSession = session(
    {
      key: isTls ? '__Host-session' : 'session',
      maxAge: lifetime(false),
      // 256 bits that are looked up need no signature.
      signed: false,
      httpOnly: true,
      sameSite: 'lax',
      secure: isTls,
      autoCommit: false,
      genid: () => randomBytes(32).toString('base64url'),
      store: {
        async get(id, _maxAge, { ctx }) {
          try {
            const data = await store.get(id)
            if (data) loaded.set(ctx, id)
            return data
          } catch (error) {
            ctx.auth.fail(error)
            return undefined
          }
        },
        async set(id, data, maxAge, { ctx }) {
          await store.set(id, data, maxAge, { isLoaded: loaded.get(ctx) === id })
          loaded.set(ctx, id)
        },
        destroy: (id) => store.destroy(id),
      },
    },
    app,
  )
  return (ctx, next) => {
    // Behind a proxy that ends TLS, the connection to us looks plain, and the cookie library would refuse.
    if (isTls) ctx.cookies.secure = true
    return koaSession(ctx, () => commit(ctx, next))
  }
}

// koa-session would save after an error too. What a handler wrote that threw is not saved; a logout counts.
const commit: Middleware = async (ctx, next) => {
  const { session } = ctx
  try {
    await next()
  } catch (error) {
    if (ctx.session === null) await session.manuallyCommit()
    throw error
  }
  await session.manuallyCommit()
}
