import { type AuthContext, type AuthMiddleware, authOf } from './auth.ts'
import { type Class, proveClass } from './class.ts'
import { atOnce, Misuse } from './errors.ts'
import { leadsHere } from './next-path.ts'
import { warnOfNoAuthenticator } from './warnings.ts'

/**
 * Sends a request with no authenticated user of that class to another page with 303, in place of a 401
 * (specification, "Redirect protection"). `to` is a path, or a function of the request that gives one, so that it can
 * carry the page asked for; where the function's would lead to another site, it is a 401 after all. A session
 * authenticator stands before it.
 */
export function redirectUnless(type: Class, to: string | ((ctx: AuthContext) => string)): AuthMiddleware {
  proveClass(type)
  if (typeof to !== 'string' && typeof to !== 'function')
    throw new Misuse("Say where to: `redirectUnless(User, '/login')`.")
  return (ctx, next) => {
    if (authOf(ctx).has(type)) return next()
    if (ctx.auth.authenticators.length === 0) warnOfNoAuthenticator(ctx)
    const target = typeof to === 'string' ? to : atOnce(to(ctx), '`to`, of `redirectUnless`,')
    // What a function makes of a request may be what somebody else put there.
    if (target !== to && !leadsHere(target)) ctx.auth.require(type)
    ctx.status = 303
    ctx.redirect(target)
  }
}
