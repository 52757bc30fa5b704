import type * as openid from 'openid-client'
import { ProviderError } from '../errors.ts'
import type { Refused } from './identity-provider.ts'

type OpenID = typeof openid

// A wrong or used code (RFC 6749 §5.2, and GitHub). Any other error is one of the configuration or of the provider.
const wrongCodes = ['invalid_grant', 'bad_verification_code']
// The person, or a rule of the provider about the person, refused. Any other error is a failure of the provider or of the configuration.
const denials = [
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'login_required',
  'not_accepted',
  // Apple and Facebook.
  'user_cancelled_authorize',
  'user_denied',
]

export function refusedBy(client: OpenID, error: unknown): Refused | undefined {
  if (error instanceof client.AuthorizationResponseError)
    return denials.includes(error.error) ? { refused: 'denied', code: error.error } : undefined
  if (error instanceof client.ResponseBodyError)
    return wrongCodes.includes(error.error) ? { refused: 'invalid', code: error.error } : undefined
  const claim = claimOf(error)
  return claim === 'nonce' || claim === 'auth_time' ? { refused: 'invalid', code: claim } : undefined
}

/** The error with the code of the provider in its message, for the log of the operator. */
export function named(client: OpenID, name: string, error: unknown): unknown {
  const code = codeOf(client, error)
  if (code === undefined) return error
  const sentence = `The identity provider ${name} responded with the error ${JSON.stringify(code.slice(0, 50))}.`
  return new ProviderError(sentence, { cause: error })
}

function codeOf(client: OpenID, error: unknown): string | undefined {
  // Its challenge means that the provider rejects the id or the secret of the client, or the way in which they are sent.
  if (error instanceof client.WWWAuthenticateChallengeError) return 'invalid_client'
  const { AuthorizationResponseError, ResponseBodyError } = client
  const hasCode = error instanceof AuthorizationResponseError || error instanceof ResponseBodyError
  return hasCode ? error.error : undefined
}

/** The claim of an ID token that belongs to another flow, or is too old. The library nests its errors. */
function claimOf(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (typeof cause.cause === 'object' && cause.cause !== null && 'claim' in cause.cause)
      return cause.cause.claim
  }
  return undefined
}

/**
 * The parameter of an answer that cannot be of this provider (RFC 9207 §2.4), or that is doubled. The library checks it too, but its error
 * would look like one of the provider.
 */
export function forgedBy(answer: URLSearchParams, metadata: openid.ServerMetadata): string | undefined {
  const doubled = ['code', 'error', 'iss', 'state'].find((name) => answer.getAll(name).length > 1)
  if (doubled !== undefined) return doubled
  const issuer = answer.get('iss')
  if (issuer === null ? metadata.authorization_response_iss_parameter_supported : issuer !== metadata.issuer)
    return 'iss'
  return answer.has('code') || answer.has('error') ? undefined : 'code'
}
