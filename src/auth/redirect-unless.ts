import { type AuthContext, type AuthMiddleware, authOf } from './auth.ts'
import { type Class, proveClass } from './class.ts'
import { atOnce, Misuse } from './errors.ts'
import { leadsHere } from './next-path.ts'
import { warnOfNoAuthenticator } from './warnings.ts'

/**
 * Redirects a request with 303 unless a user of that class is authenticated. Belongs behind the authenticators.
 *
 * @param to the path of the sign-in page, or a function of the request, which can add the requested page. If the path of
 *   a function leads to another site, the response is a 401.
 */
export function redirectUnless(type: Class, to: string | ((ctx: AuthContext) => string)): AuthMiddleware {
  proveClass(type)
  if (typeof to !== 'string' && typeof to !== 'function')
    throw new Misuse("Give the path to redirect to: `redirectUnless(User, '/login')`.")
  return (ctx, next) => {
    const store = authOf(ctx)
    if (store.has(type)) return next()
    if (store.authenticators.length === 0) warnOfNoAuthenticator(ctx)
    const target = typeof to === 'string' ? to : atOnce(to(ctx), 'The function of `redirectUnless`')
    // A path made from a request may be an attacker's.
    if (target !== to && !leadsHere(target)) store.require(type)
    ctx.status = 303
    ctx.redirect(target)
  }
}
