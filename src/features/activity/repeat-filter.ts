import { isInFuture } from '../../database/future-time.ts'

/** Filters repeated events. The number of keys is bounded: a full filter drops events of new keys. */
export class RepeatFilter {
  readonly #interval: number
  readonly #now: () => number
  readonly #capacity: number
  // In order of insertion.
  readonly #last = new Map<string, number>()

  /**
   * @param interval the minimum time between two events of a key, in milliseconds
   * @param capacity the maximum number of stored keys
   */
  constructor(interval: number, now: () => number, capacity = 10_000) {
    this.#interval = interval
    this.#now = now
    this.#capacity = capacity
  }

  /** Returns whether all keys are due, and if so starts their interval. */
  isDue(...keys: readonly string[]): boolean {
    const now = this.#now()
    this.#deleteExpired(now)
    if (keys.some((key) => this.#last.has(key)) || this.#last.size + keys.length > this.#capacity)
      return false
    for (const key of keys) this.#last.set(key, now)
    return true
  }

  #deleteExpired(now: number): void {
    for (const [key, at] of this.#last) {
      if (at > now - this.#interval && !isInFuture(at, now)) return
      this.#last.delete(key)
    }
  }
}
