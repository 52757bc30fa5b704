import { type AuthContext, type AuthMiddleware, authOf, type Class } from './auth.ts'
import { warnOfNoAuthenticator } from './unguarded.ts'

/**
 * Sends a request with no authenticated user of that class to another page with 303, in place of a 401
 * (specification, "Redirect protection"). `to` is a path, or a function of the request that gives one, so that it can
 * carry the page asked for. A session authenticator stands before it.
 */
export function redirectUnless(type: Class, to: string | ((ctx: AuthContext) => string)): AuthMiddleware {
  return (ctx, next) => {
    if (authOf(ctx).has(type)) return next()
    warnOfNoAuthenticator(ctx)
    ctx.status = 303
    ctx.redirect(typeof to === 'string' ? to : to(ctx))
  }
}
