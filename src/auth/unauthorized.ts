import { basicAuthorization, bearerAuthorization } from './authorization.ts'
import { requireSync } from './checks.ts'
import { Unauthorized, type UnauthorizedCode } from './errors.ts'
import type { RequestState } from './state.ts'

/** The 401 of a request. Its message does not reveal whether an account exists. */
export function unauthorized(state: RequestState): Unauthorized {
  const challenges = challengesFor(state)
  return new Unauthorized(challenges, codeOf(state, challenges))
}

function codeOf(
  { ctx: { req }, presented, users }: RequestState,
  challenges: readonly string[],
): UnauthorizedCode {
  const { authorization } = req.headers
  const scheme = authorization === undefined ? undefined : schemeOf(authorization)
  const isAccepted = challenges.some((each) => schemeOf(each) === scheme)
  if (scheme === 'bearer' && isAccepted)
    return bearerAuthorization(req) ? 'ERR_AUTH_INVALID_TOKEN' : 'ERR_AUTH_MALFORMED_HEADER'
  // The credentials are valid, but not for the required class.
  const isKnown = [...users.values()].some(({ user, by }) => user && !by?.recorded)
  if (isKnown || (scheme === undefined && presented !== 'authenticator')) return 'ERR_AUTH_REQUIRED'
  if (scheme === undefined) return 'ERR_AUTH_WRONG_CREDENTIALS'
  if (!isAccepted)
    return scheme === 'bearer' ? 'ERR_AUTH_BEARER_NOT_ACCEPTED' : 'ERR_AUTH_SCHEME_NOT_ACCEPTED'
  return scheme === 'basic' && !basicAuthorization(req)
    ? 'ERR_AUTH_MALFORMED_HEADER'
    : 'ERR_AUTH_WRONG_CREDENTIALS'
}

/** The challenges of the route's authenticators. `maxAge` is set, in seconds, if the user has to authenticate again. */
export function challengesFor({ ctx, authenticators }: RequestState, maxAge?: number): string[] {
  return authenticators.flatMap((each) => requireSync(each.challenge(ctx, maxAge), '`challenge`') ?? [])
}

/** The auth-scheme of a header or a challenge, in lower case (RFC 9110 §11.1). */
function schemeOf(text: string): string {
  return text.split(/[\s,]/, 1)[0]?.toLowerCase() ?? ''
}
