import { type AuthMiddleware, authOf, type Class, proveClass } from './auth.ts'
import { warnOfNoAuthenticator } from './unguarded.ts'

/**
 * Lets a request pass only if a user of that class is authenticated, and rejects any other with 401 (specification,
 * "Guard and composition"). Stands behind the authenticators.
 */
export function guard(type: Class): AuthMiddleware {
  proveClass(type)
  return (ctx, next) => {
    if (!authOf(ctx).has(type)) warnOfNoAuthenticator(ctx)
    ctx.auth.require(type)
    return next()
  }
}
