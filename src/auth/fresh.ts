import { type AuthContext, authOf } from './auth.ts'
import { type Duration, milliseconds } from './authentication.ts'
import type { Class } from './class.ts'
import { Misuse, requireSync, Unauthorized } from './errors.ts'
import { warnOfRoute } from './warnings.ts'

/** The options of a guard or a redirect. */
export interface FreshOptions {
  /**
   * The maximum time since the user authenticated, such as `10m`. The user of a token is not fresh, unless the authenticator
   * has `methods` or `signsIn`.
   */
  readonly fresh: Duration
}

/** The duration of the options in milliseconds, or `undefined` without options. Throws `Misuse` for invalid options. */
export function maxAgeOf(options: FreshOptions | undefined, name: string): number | undefined {
  if (options === undefined) return undefined
  if (typeof options === 'object' && options !== null && Object.hasOwn(options, 'fresh'))
    return milliseconds(options.fresh)
  throw new Misuse(`The options of \`${name}\` need a duration, as in \`{ fresh: '10m' }\`.`)
}

/**
 * Whether a user of that class is authenticated and, with a maximum age, also fresh. Warns of a route that rejects every
 * request, because no authenticator before the guard can satisfy it.
 */
export function isAdmitted(ctx: AuthContext, type: Class, maxAge: number | undefined): boolean {
  const store = authOf(ctx)
  store.requireIdle()
  const hasUser = store.has(type)
  if (hasUser && (maxAge === undefined || store.isFresh(type, maxAge))) return true
  if (store.authenticators.length === 0) {
    const sentence = `has a guard or a redirect and no authenticator before it. Add one for ${type.name}.`
    warnOfRoute(ctx, 'KOA_AUTH_UNGUARDED', sentence)
  } else if (hasUser && !store.authenticators.some((each) => each.signsIn || each.methods || each.recorded)) {
    const sentence =
      'requires a fresh user, but its authenticators accept only tokens. Add a session or password authenticator.'
    warnOfRoute(ctx, 'KOA_AUTH_NEVER_FRESH', sentence)
  }
  return false
}

/** Rejects a request with 401, because the user is missing or not fresh. */
export function refuse(ctx: AuthContext, type: Class, maxAge = 0): never {
  const { authenticators } = authOf(ctx)
  authOf(ctx).require(type)
  const seconds = Math.floor(maxAge / 1000)
  const challenges = authenticators.map((each) => requireSync(each.challenge(ctx, seconds), '`challenge`'))
  throw new Unauthorized(challenges, 'ERR_AUTH_CONFIRMATION_REQUIRED')
}
