import type { AuthContext, AuthMiddleware } from './auth.ts'
import { type Class, requireSync } from './checks.ts'
import { isSafe } from './cross-site.ts'
import { Misuse } from './errors.ts'
import { conditionOf, isAdmitted, type ProofOptions, refuse } from './guard.ts'
import { staysOnSite } from './next-path.ts'
import { warnOfRoute } from './warnings.ts'

/**
 * Redirects with 303 unless a user of that class, or of one of several classes, is authenticated. With `{ fresh: '10m' }` the user must have authenticated
 * in the last ten minutes. Mount it after the authenticators.
 *
 * @param to the path of the sign-in or confirmation page, or a function that returns it. If the function returns a URL of another site, the response is 401.
 */
export function redirectUnless(
  types: Class | readonly Class[],
  to: string | ((ctx: AuthContext) => string),
  options: ProofOptions = {},
): AuthMiddleware {
  const condition = conditionOf(types, options)
  if (typeof to !== 'string' && typeof to !== 'function')
    throw new Misuse("Give the path to redirect to: `redirectUnless(User, '/login')`.")
  return (ctx, next) => {
    if (isAdmitted(ctx, condition)) return next()
    const target = typeof to === 'string' ? to : requireSync(to(ctx), 'The function of `redirectUnless`')
    // A path from a request may be chosen by an attacker (open redirect).
    if (target !== to && !staysOnSite(target)) refuse(ctx, condition)
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
