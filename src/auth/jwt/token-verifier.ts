import { hash } from 'node:crypto'
import { type JWTVerifyGetKey, jwtVerify } from 'jose'
import { ProviderError } from '../errors.ts'
import type { JsonObject } from '../json-object.ts'
import type { ClaimRules } from './claims.ts'
import type { Claims, JWTPayload, JWTPayloadClass } from './payload.ts'
import { readToken } from './read-token.ts'

/** A key that may have signed a token. Without `algorithms`, it verifies all asymmetric ones. */
interface Candidate {
  readonly getKey: JWTVerifyGetKey
  readonly algorithms?: string[]
}

/** Verifies tokens. Caches the claims of verified tokens by digest, so that the signature of a repeated token is verified once. */
export class TokenVerifier {
  readonly #rules: ClaimRules
  readonly #candidates: (header: JsonObject) => readonly Candidate[]
  readonly #maxTokens: number
  // A `Map` keeps the order of insertion: the oldest token is the first.
  readonly #claims = new Map<string, Claims>()

  /** @param maxTokens how many claims are cached. One takes about half a kilobyte */
  constructor(
    rules: ClaimRules,
    candidates: (header: JsonObject) => readonly Candidate[],
    maxTokens = 20_000,
  ) {
    this.#rules = rules
    this.#candidates = candidates
    this.#maxTokens = maxTokens
  }

  /** The payload of a valid token with that `typ`, else `undefined`. Throws `ProviderError` if a key cannot be loaded. */
  async verify<Payload extends JWTPayload>(token: string, type: JWTPayloadClass<Payload>, typ: string) {
    if (typeof token !== 'string') return undefined
    // Unambiguous, because a `typ` contains no line break.
    const digest = hash('sha256', `${typ}\n${token}`, 'base64url')
    const claims = this.#claims.get(digest) ?? (await this.#verifyOnce(digest, token, typ))
    if (!claims) return undefined
    // jose has checked that they are numbers. Infinity is no lifetime.
    const { exp, iat } = claims as { exp: number; iat: number }
    const { leeway, now } = this.#rules
    const seconds = now() / 1000
    const isCurrent = exp > seconds - leeway && iat <= seconds + leeway && exp - iat <= type.lifetime
    return isCurrent ? type.parse(claims, new Date(exp * 1000)) : undefined
  }

  async #verifyOnce(digest: string, token: string, typ: string): Promise<Claims | undefined> {
    const { header, claims } = readToken(token) ?? {}
    if (!header || !claims) return undefined
    const { issuer, audience, leeway: clockTolerance, now } = this.#rules
    const rules = { typ, issuer, audience, clockTolerance, requiredClaims: ['exp', 'iat'] }
    for (const { getKey, ...allowed } of this.#candidates(header)) {
      try {
        await jwtVerify(token, getKey, { ...rules, ...allowed, currentDate: new Date(now()) })
      } catch (error) {
        if (error instanceof ProviderError) throw error
        // The token is invalid, or the key does not fit the algorithm.
        continue
      }
      // Requests share the claims.
      this.#claims.set(digest, freeze(claims))
      const [oldest = ''] = this.#claims.keys()
      if (this.#claims.size > this.#maxTokens) this.#claims.delete(oldest)
      return claims
    }
    return undefined
  }
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
