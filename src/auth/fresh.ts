import { type AuthContext, authOf } from './auth.ts'
import { type Duration, milliseconds } from './authentication.ts'
import type { Class } from './class.ts'
import { Misuse } from './errors.ts'
import { confirmationRequired } from './unauthorized.ts'
import { warnOfNeverFresh, warnOfNoAuthenticator } from './warnings.ts'

/** The options of a guard or a redirect. */
export interface FreshOptions {
  /** The maximum time since the user authenticated, such as `10m`. By default, the user of a token is not fresh. */
  readonly fresh: Duration
}

/** The duration of the options in milliseconds, or `undefined` without options. Throws `Misuse` for invalid options. */
export function maxAgeOf(options: FreshOptions | undefined, name: string): number | undefined {
  if (options === undefined) return undefined
  if (typeof options === 'object' && options !== null && Object.hasOwn(options, 'fresh'))
    return milliseconds(options.fresh)
  throw new Misuse(`The options of \`${name}\` need a duration, as in \`{ fresh: '10m' }\`.`)
}

/** Whether a user of that class is authenticated and, with a maximum age, also fresh. */
export function isAdmitted(ctx: AuthContext, type: Class, maxAge: number | undefined): boolean {
  const store = authOf(ctx)
  return store.has(type) && (maxAge === undefined || store.isFresh(type, maxAge))
}

/** Rejects a request with 401, because the user is missing or not fresh. */
export function refuse(ctx: AuthContext, type: Class, maxAge = 0): never {
  const { authenticators } = authOf(ctx)
  authOf(ctx).require(type)
  throw confirmationRequired(ctx, authenticators, maxAge)
}

/** Warns of a route that rejects every request, because no authenticator before the guard can satisfy it. */
export function warnOfUnusable(ctx: AuthContext, type: Class): void {
  const { authenticators } = authOf(ctx)
  const canBeFresh = authenticators.some((each) => each.signsIn || each.methods || each.recorded)
  if (authenticators.length === 0) warnOfNoAuthenticator(ctx)
  else if (!canBeFresh && authOf(ctx).peek(type)) warnOfNeverFresh(ctx)
}
