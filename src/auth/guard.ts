import { type AuthMiddleware, authOf } from './auth.ts'
import { type Class, requireClass } from './class.ts'
import { Misuse } from './errors.ts'
import { warnOfNoAuthenticator } from './warnings.ts'

/** Rejects a request with 401 unless a user of that class is authenticated. Mount it behind the authenticators. */
export function guard(type: Class, ...none: []): AuthMiddleware {
  requireClass(type)
  if (none.length > 0)
    throw new Misuse('A guard is for one class. Add a second guard behind it, or ask `ctx.auth.has`.')
  return (ctx, next) => {
    const store = authOf(ctx)
    if (store.has(type)) return next()
    if (store.authenticators.length === 0) warnOfNoAuthenticator(ctx)
    store.require(type)
  }
}
