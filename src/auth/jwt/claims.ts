import type { JsonObject } from '../json-object.ts'

/** The claims of a token (RFC 7519 §4). `parse` of a payload class checks the types of its own claims. */
export type Claims = JsonObject

/** The rules for the claims of every token. */
export interface ClaimRules {
  readonly issuer: string
  readonly audience: string
  /** The tolerated clock difference between two machines, in seconds. */
  readonly leeway: number
  /** Returns the time in milliseconds. */
  readonly now: () => number
}

/**
 * Checks the issuer, the audience and the times (RFC 7519 §4.1, RFC 8725 §3.8 and §3.9). Returns the expiry in seconds, or
 * `undefined` if a claim is invalid or the token lives longer than `lifetime` seconds.
 */
export function validUntil(claims: Claims, rules: ClaimRules, lifetime: number): number | undefined {
  const { exp, iat, nbf = iat, iss, aud } = claims
  if (!isNumericDate(exp) || !isNumericDate(iat) || !isNumericDate(nbf)) return undefined
  const now = rules.now() / 1000
  const isCurrent = exp > now - rules.leeway && Math.max(iat, nbf) <= now + rules.leeway
  const isOurs = iss === rules.issuer && hasAudience(aud, rules.audience)
  return isCurrent && isOurs && exp - iat <= lifetime ? exp : undefined
}

function isNumericDate(value: unknown): value is number {
  return Number.isFinite(value)
}

function hasAudience(aud: unknown, audience: string): boolean {
  if (!Array.isArray(aud)) return aud === audience
  return aud.every((each) => typeof each === 'string') && aud.includes(audience)
}
