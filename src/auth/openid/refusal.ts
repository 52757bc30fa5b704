import type * as openid from 'openid-client'
import { ProviderError } from '../errors.ts'
import type { Refused } from './identity-provider.ts'

type OpenID = typeof openid

// The errors of a wrong configuration or a failing provider (RFC 6749 §5.2, and GitHub). Providers have several codes for a wrong or used code.
const failures = [
  'incorrect_client_credentials',
  'invalid_client',
  'invalid_request',
  'invalid_scope',
  'redirect_uri_mismatch',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
]
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
    return failures.includes(error.error) || error.status >= 500
      ? undefined
      : { refused: 'invalid', code: error.error }
  const claim = claimOf(error)
  return claim === 'nonce' || claim === 'auth_time' ? { refused: 'invalid', code: claim } : undefined
}

/** The error with the code of the provider in its message, for the log of the operator. */
export function named(client: OpenID, name: string, error: unknown): unknown {
  if (error instanceof client.WWWAuthenticateChallengeError)
    return new ProviderError(
      `The identity provider ${name} rejected the client (invalid_client). Check its id, its secret, and how it authenticates.`,
      { cause: error },
    )
  const isOfProvider =
    error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError
  if (!isOfProvider) return error
  return new ProviderError(
    `The identity provider ${name} responded with the error ${JSON.stringify(error.error.slice(0, 50))}.`,
    { cause: error },
  )
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
