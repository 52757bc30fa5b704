import type { ExtendableContext, Next } from 'koa'
import { Misuse } from './errors.ts'
import { Auth, type AuthContext } from './store.ts'

export type { AuthContext } from './store.ts'

/** A Koa middleware that needs `ctx.auth`. */
export type AuthMiddleware = (ctx: AuthContext, next: Next) => unknown

/** Sets `ctx.auth`, an empty store of users, on every request. Mount it before every authenticator and guard. */
export function auth(...none: []): (ctx: ExtendableContext & { auth?: Auth }, next: Next) => Promise<void> {
  if (none.length > 0) throw new Misuse('Call it: `app.use(auth())`, with parentheses.')
  return async (ctx, next) => {
    // A second `auth()` keeps the `ctx.auth` of the first.
    if (ctx.auth && authOf(ctx)) return next()
    const store = new Auth(ctx as AuthContext)
    ctx.auth = store
    await next()
    store.close()
  }
}

/** The `ctx.auth` of a request. Throws `Misuse` if `auth()` is missing or another library has set `ctx.auth`. */
export function authOf(ctx: { auth?: unknown }): Auth {
  if (ctx.auth instanceof Auth) return ctx.auth
  if (!ctx.auth) throw new Misuse('Add `app.use(auth())` before the first authenticator, guard or redirect.')
  throw new Misuse(
    'Another library or a second copy of koa-authenticators has set `ctx.auth`. Keep only one of them.',
  )
}
