import { hash, randomBytes } from 'node:crypto'
import type { Allowance } from './allowance.ts'
import { networkOf } from './network.ts'
import { tooMany } from './too-many.ts'

const windowLength = 15 * 60_000
// Two bytes of a digest.
const counters = 65_536

/**
 * A rate limit by network in 64 KB of memory, for requests that are cheaper than a database write. Networks may
 * share a counter. The salt is random, so that a network cannot choose its counter.
 */
export class NetworkLimit {
  readonly #limit: number
  readonly #allowance: Allowance
  readonly #now: () => number
  readonly #salt = randomBytes(16).toString('base64url')
  readonly #counts = new Uint8Array(counters)
  #end = Number.NEGATIVE_INFINITY

  /** @param limit the limit of a network in 15 minutes, at most 255 */
  constructor(limit: number, now = () => performance.now()) {
    this.#limit = limit
    this.#allowance = { by: ['network'], limit, within: windowLength, counts: ['failure', 'success'] }
    this.#now = now
  }

  /**
   * Counts one request.
   * @throws {TryLater} 429, if the network is over the limit
   */
  count(address: string): void {
    const now = this.#now()
    if (now >= this.#end) {
      this.#counts.fill(0)
      this.#end = now + windowLength
    }
    const counter = hash('sha256', this.#salt + networkOf(address), 'buffer').readUInt16BE()
    const count = this.#counts[counter] ?? 0
    if (count >= this.#limit) throw tooMany(this.#end - now, this.#allowance)
    this.#counts[counter] = count + 1
  }
}
