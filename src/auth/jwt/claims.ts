import { Misuse } from '../errors.ts'
import type { JsonObject } from '../json-object.ts'

/** The claims of a token (RFC 7519 §4). `parse` of a payload class checks the types of its own claims. */
export type Claims = JsonObject

/** What all tokens of an issuer have in common. */
export interface ClaimOptions {
  /** The issuer of the tokens: their `iss`. */
  readonly issuer: string
  /** The recipient of the tokens: their `aud`. */
  readonly audience: string
  /** The tolerated clock difference between two machines, in seconds: 0 by default, 60 at most. */
  readonly leeway?: number
  /** Returns the time in milliseconds. */
  readonly now?: () => number
}

export type ClaimRules = Required<ClaimOptions>

/** Fills in the defaults. Throws `Misuse` if an option is missing or out of range. */
export function claimRules(options: ClaimOptions): ClaimRules {
  const { issuer, audience, leeway = 0, now = () => Date.now() } = options
  if (!issuer || !audience) throw new Misuse('Tokens need an `issuer` and an `audience`.')
  if (!(Number.isFinite(leeway) && leeway >= 0 && leeway <= 60))
    throw new Misuse('The `leeway` of tokens is 0 to 60 seconds.')
  return { issuer, audience, leeway, now }
}

/**
 * Checks the dates of verified claims, also of cached ones. Returns the expiry in seconds, or `undefined` if the token is not valid
 * now or lives longer than `lifetime` seconds.
 */
export function validUntil(claims: Claims, rules: ClaimRules, lifetime: number): number | undefined {
  const { exp, iat } = claims
  if (!isNumericDate(exp) || !isNumericDate(iat)) return undefined
  const now = rules.now() / 1000
  const isCurrent = exp > now - rules.leeway && iat <= now + rules.leeway
  return isCurrent && exp - iat <= lifetime ? exp : undefined
}

function isNumericDate(value: unknown): value is number {
  return Number.isFinite(value)
}
