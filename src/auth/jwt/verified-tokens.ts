import { hash } from 'node:crypto'
import type { Claims } from './payload.ts'

/** Caches the claims of verified tokens, by digest. Their dates are still checked on every request. */
export class VerifiedTokens {
  readonly #maxTokens: number
  // A `Map` keeps the order of insertion: the oldest token is the first.
  readonly #claims = new Map<string, Claims>()

  constructor(maxTokens = 5000) {
    this.#maxTokens = maxTokens
  }

  /** The cached claims of a token of that `typ`, or the result of `verify`. Frozen, because requests share them. */
  async claims(
    token: string,
    typ: string,
    verify: () => Promise<Claims | undefined>,
  ): Promise<Claims | undefined> {
    if (typeof token !== 'string') return undefined
    // Unambiguous, because a `typ` contains no line break.
    const digest = hash('sha256', `${typ}\n${token}`, 'base64url')
    const known = this.#claims.get(digest)
    if (known) return known
    const claims = freeze(await verify())
    if (claims) this.#claims.set(digest, claims)
    const [oldest = ''] = this.#claims.keys()
    if (this.#claims.size > this.#maxTokens) this.#claims.delete(oldest)
    return claims
  }
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
