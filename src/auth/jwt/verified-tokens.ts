import { hash } from 'node:crypto'
import type { Claims } from './claims.ts'

/**
 * Remembers what tokens say whose signatures and format were found right, by digest: to find that out again is most of what
 * a token costs. Whether it still counts, its expiry before all, is nothing that this knows: that is asked each time.
 */
export class VerifiedTokens {
  readonly #most: number
  #length = 0
  #recent = new Map<string, Claims>()
  #older = new Map<string, Claims>()

  /** @param most how many characters of tokens it holds, in two generations; the one that was not asked about for longest goes */
  constructor(most = 10_000_000) {
    this.#most = most
  }

  /** The claims of a token of that `typ`, which are frozen since many requests get them; those that `verify` finds, or has found. */
  claims(token: string, typ: string, verify: () => Claims | undefined): Claims | undefined {
    // No `typ` and no token has a line break in it that would pass for this one.
    const digest = hash('sha256', `${typ}\n${token}`, 'base64url')
    const recent = this.#recent.get(digest)
    if (recent) return recent
    const claims = this.#older.get(digest) ?? freeze(verify())
    if (claims) this.#keep(digest, claims, token.length)
    return claims
  }

  #keep(digest: string, claims: Claims, length: number): void {
    if (this.#length > this.#most / 2) {
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
