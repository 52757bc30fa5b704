import type { ExtendableContext } from 'koa'
import { basicAuthorization, bearerAuthorization } from './authorization.ts'
import { requireSync } from './checks.ts'
import { Unauthorized, type UnauthorizedCode } from './errors.ts'
import type { AuthenticatorFor, RequestState } from './state.ts'

// British, because American English has a comma before "or".
const list = new Intl.ListFormat('en-GB', { type: 'disjunction' })

/** The 401 of a request. Its message does not reveal whether an account exists. */
export function unauthorized<Context extends ExtendableContext>(
  ctx: Context,
  { authenticators, presented, users }: RequestState<Context>,
): Unauthorized {
  const challenges = challengesFor(ctx, authenticators)
  const refuse = (code: UnauthorizedCode, message?: string) => new Unauthorized(challenges, code, message)
  const { authorization } = ctx.req.headers
  const scheme = authorization === undefined ? undefined : schemeOf(authorization)
  const isAccepted = challenges.some((each) => schemeOf(each) === scheme)
  if (scheme === 'bearer' && isAccepted)
    return refuse(bearerAuthorization(ctx.req) ? 'ERR_AUTH_INVALID_TOKEN' : 'ERR_AUTH_MALFORMED_HEADER')
  // The credentials are valid, but not for the required class.
  const isKnown = [...users.values()].some(({ user, by }) => user && !by?.isForEveryPage)
  if (isKnown || (scheme === undefined && presented !== 'authenticator')) return refuse('ERR_AUTH_REQUIRED')
  if (scheme === undefined) return refuse('ERR_AUTH_WRONG_CREDENTIALS')
  if (!isAccepted) {
    const usable = authenticators.filter(({ isForEveryPage }) => !(isForEveryPage && presented))
    const accepted = new Set(usable.flatMap(({ accepts }) => accepts ?? []))
    if (accepted.size === 0) return refuse('ERR_AUTH_REQUIRED')
    const message = `This route does not accept ${nameOf(scheme)}. Use ${list.format(accepted)}.`
    return refuse(
      scheme === 'bearer' ? 'ERR_AUTH_BEARER_NOT_ACCEPTED' : 'ERR_AUTH_SCHEME_NOT_ACCEPTED',
      message,
    )
  }
  if (scheme !== 'basic') return refuse('ERR_AUTH_WRONG_CREDENTIALS', 'The credentials are wrong.')
  return refuse(basicAuthorization(ctx.req) ? 'ERR_AUTH_WRONG_CREDENTIALS' : 'ERR_AUTH_MALFORMED_HEADER')
}

/** The challenges of authenticators. `maxAge` is set, in seconds, if the user has to authenticate again. */
export function challengesFor<Context>(
  ctx: Context,
  authenticators: readonly AuthenticatorFor<Context>[],
  maxAge?: number,
): string[] {
  return authenticators.flatMap((each) => requireSync(each.challenge(ctx, maxAge), '`challenge`') ?? [])
}

/** The auth-scheme of a header or a challenge, in lower case (RFC 9110 §11.1). */
function schemeOf(text: string): string {
  return text.split(/[\s,]/, 1)[0]?.toLowerCase() ?? ''
}

function nameOf(scheme: string): string {
  if (scheme === 'bearer') return 'bearer tokens'
  return scheme === 'basic' ? 'Basic' : 'this authorization scheme'
}
