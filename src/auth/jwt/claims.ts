import { Misuse } from '../errors.ts'

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
