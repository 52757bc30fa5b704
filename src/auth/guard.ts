import { type AuthMiddleware, authOf } from './auth.ts'
import { type Class, proveClass } from './class.ts'
import { Misuse } from './errors.ts'
import { warnOfNoAuthenticator } from './warnings.ts'

/**
 * Lets a request pass only if a user of that class is authenticated, and rejects any other with 401 (specification,
 * "Guard and composition"). Stands behind the authenticators.
 */
export function guard(type: Class, ...none: []): AuthMiddleware {
  proveClass(type)
  if (none.length > 0)
    throw new Misuse('A guard is for one class: write a second one behind it, or ask `ctx.auth.has`.')
  return (ctx, next) => {
    const store = authOf(ctx)
    if (!store.has(type)) {
      if (ctx.auth.authenticators.length === 0) warnOfNoAuthenticator(ctx)
      store.require(type)
    }
    return next()
  }
}
