import { hash } from 'node:crypto'
import type { Claims } from './claims.ts'

/** Caches the claims of tokens with a verified signature, by digest. Their dates are still checked on every request. */
export class VerifiedTokens {
  readonly #maxCharacters: number
  #length = 0
  #recent = new Map<string, Claims>()
  #older = new Map<string, Claims>()

  /** @param maxCharacters the approximate maximum length of all cached tokens together. The least recently used half is dropped first. */
  constructor(maxCharacters = 10_000_000) {
    this.#maxCharacters = maxCharacters
  }

  /** The cached claims of a token of that `typ`, or the result of `verify`. Frozen, because requests share them. */
  async claims(
    token: string,
    typ: string,
    verify: () => Promise<Claims | undefined>,
  ): Promise<Claims | undefined> {
    // Unambiguous, because a `typ` contains no line break.
    const digest = hash('sha256', `${typ}\n${token}`, 'base64url')
    const recent = this.#recent.get(digest)
    if (recent) return recent
    const claims = this.#older.get(digest) ?? freeze(await verify())
    if (claims) this.#keep(digest, claims, token.length)
    return claims
  }

  #keep(digest: string, claims: Claims, length: number): void {
    if (this.#length > this.#maxCharacters / 2) {
      this.#older = this.#recent
      this.#recent = new Map()
      this.#length = 0
    }
    this.#recent.set(digest, claims)
    this.#length += length
  }
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
