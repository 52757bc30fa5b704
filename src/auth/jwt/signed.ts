import { hash } from 'node:crypto'

/**
 * Remembers what a key has found rightly signed, by digest: an elliptic curve takes twenty times as long to say so again.
 * Whether a token still counts is nothing that it knows: that is asked each time. Bounded: what was not
 * asked about for longest is forgotten.
 */
export class Signed {
  readonly #most: number
  #recent = new Set<string>()
  #older = new Set<string>()

  /** @param most how many of them it holds, in two generations */
  constructor(most = 20_000) {
    this.#most = most
  }

  /** Whether `verify` says so, or has said so. */
  includes(input: string, signature: Uint8Array, verify: () => boolean): boolean {
    const digest = hash('sha256', `${Buffer.from(signature).toString('base64url')}.${input}`, 'base64url')
    if (this.#recent.has(digest)) return true
    if (!this.#older.has(digest) && !verify()) return false
    if (this.#recent.size >= this.#most / 2) {
      this.#older = this.#recent
      this.#recent = new Set()
    }
    this.#recent.add(digest)
    return true
  }
}
