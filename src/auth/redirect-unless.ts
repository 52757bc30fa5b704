import type { AuthContext, AuthMiddleware } from './auth.ts'
import { type Class, requireClass } from './class.ts'
import { isSafe } from './cross-site.ts'
import { Misuse, requireSync } from './errors.ts'
import { type FreshOptions, isAdmitted, maxAgeOf, refuse } from './fresh.ts'
import { staysOnSite } from './next-path.ts'
import { warnOfRoute } from './warnings.ts'

/**
 * Redirects with 303 unless a user of that class is authenticated. With `{ fresh: '10m' }` the user must have authenticated
 * in the last ten minutes. Mount it after the authenticators.
 *
 * @param to the path of the sign-in or confirmation page, or a function that returns it. If the function returns a URL of another site, the response is 401.
 */
export function redirectUnless(
  type: Class,
  to: string | ((ctx: AuthContext) => string),
  options?: FreshOptions,
): AuthMiddleware {
  requireClass(type, "Name the class of the user: `redirectUnless(User, '/login')`.")
  if (typeof to !== 'string' && typeof to !== 'function')
    throw new Misuse("Give the path to redirect to: `redirectUnless(User, '/login')`.")
  const maxAge = maxAgeOf(options, 'redirectUnless')
  return (ctx, next) => {
    if (isAdmitted(ctx, type, maxAge)) return next()
    const target = typeof to === 'string' ? to : requireSync(to(ctx), 'The function of `redirectUnless`')
    // A path from a request may be chosen by an attacker (open redirect).
    if (target !== to && !staysOnSite(target)) refuse(ctx, type, maxAge)
    if (isSafe(ctx.method) && pathOf(target) === pathOf(ctx.originalUrl)) {
      // The browser shows "too many redirects".
      const sentence = 'redirects to itself. Mount `redirectUnless` on other routes only.'
      warnOfRoute(ctx, 'KOA_AUTH_REDIRECT_LOOP', sentence)
    }
    ctx.status = 303
    ctx.redirect(target)
  }
}

function pathOf(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? ''
}
