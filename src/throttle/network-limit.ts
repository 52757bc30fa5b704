import { hash, randomBytes } from 'node:crypto'
import { networkOf } from './network.ts'
import { tooMany } from './too-many.ts'

const windowLength = 15 * 60_000
// Two bytes of a digest.
const counters = 65_536

/**
 * Limits what networks may ask without any work of theirs or ours, in the memory of this process: 64 KB, however many
 * networks there are. Networks may share a counter. The salt is random, so that no network can choose which.
 */
export class NetworkLimit {
  readonly #most: number
  readonly #now: () => number
  readonly #salt = randomBytes(16).toString('base64url')
  readonly #counts = new Uint8Array(counters)
  #end = Number.NEGATIVE_INFINITY

  /**
   * @param most how many times a network may ask in a quarter of an hour, at most 255
   * @param now a clock in milliseconds that never goes back
   */
  constructor(most: number, now = () => performance.now()) {
    this.#most = most
    this.#now = now
  }

  /**
   * Counts one time.
   * @throws {TryLater} 429, if the network has asked too often
   */
  count(address: string): void {
    const now = this.#now()
    if (now >= this.#end) {
      this.#counts.fill(0)
      this.#end = now + windowLength
    }
    const counter = hash('sha256', this.#salt + networkOf(address), 'buffer').readUInt16BE()
    const count = this.#counts[counter] ?? 0
    if (count >= this.#most) throw tooMany(this.#end - now)
    this.#counts[counter] = count + 1
  }
}
