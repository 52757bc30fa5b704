import type { JsonObject } from '../json-object.ts'

/** The claims of a token that was verified (RFC 7519 §4). Its own ones are unknown until a payload class has proven them; they are frozen. */
export type Claims = JsonObject

/** What the claims of every token have to say. */
export interface ClaimRules {
  readonly issuer: string
  readonly audience: string
  /** How far the clocks of two machines may be apart, in seconds. */
  readonly leeway: number
  /** The time in milliseconds. */
  readonly now: () => number
}

/**
 * When the token with these claims expires, in seconds; `undefined` if it is not good now, lives longer than `lifetime`
 * seconds, or was made by or for somebody else (RFC 7519 §4.1, RFC 8725 §3.8 and §3.9).
 */
export function goodUntil(claims: Claims, rules: ClaimRules, lifetime: number): number | undefined {
  const { exp, iat, nbf = iat, iss, aud } = claims
  if (!isNumericDate(exp) || !isNumericDate(iat) || !isNumericDate(nbf)) return undefined
  const now = rules.now() / 1000
  const isNow = exp > now - rules.leeway && Math.max(iat, nbf) <= now + rules.leeway
  const isOurs = iss === rules.issuer && isAudience(aud, rules.audience)
  return isNow && isOurs && exp - iat <= lifetime ? exp : undefined
}

function isNumericDate(value: unknown): value is number {
  return Number.isFinite(value)
}

function isAudience(aud: unknown, audience: string): boolean {
  if (!Array.isArray(aud)) return aud === audience
  return aud.every((each) => typeof each === 'string') && aud.includes(audience)
}
