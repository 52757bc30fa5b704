import type { AuthMiddleware } from './auth.ts'
import { type Class, requireClass } from './class.ts'
import { Misuse } from './errors.ts'
import { type FreshOptions, isAdmitted, maxAgeOf, refuse } from './fresh.ts'

/**
 * Rejects a request without an authenticated user of that class: with 401, or with 503 if an authenticator has failed. With
 * `{ fresh: '10m' }` the user must have authenticated in the last ten minutes. Mount it after the authenticators.
 */
export function guard(type: Class, options?: FreshOptions, ...none: []): AuthMiddleware {
  requireClass(type)
  if (none.length > 0 || typeof options === 'function')
    throw new Misuse('A guard is for one class. Add a second guard after it, or call `ctx.auth.has`.')
  const maxAge = maxAgeOf(options, 'guard')
  return (ctx, next) => {
    if (isAdmitted(ctx, type, maxAge)) return next()
    refuse(ctx, type, maxAge)
  }
}
