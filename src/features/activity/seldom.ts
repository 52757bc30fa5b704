import { isInFuture } from '../../database/future-time.ts'

const room = 10_000

/** Tells whether it is time to write down again what repeats. Its memory is bounded, and what finds no room must wait. */
export class Seldom {
  readonly #pause: number
  readonly #now: () => number
  // In the order in which they came.
  readonly #last = new Map<string, number>()

  /** @param pause how long it must be since the last time, in milliseconds */
  constructor(pause: number, now: () => number) {
    this.#pause = pause
    this.#now = now
  }

  /** Whether none of these was due within the last such time. If so, all of them are now. */
  isDue(...keys: readonly string[]): boolean {
    const now = this.#now()
    this.#forget(now)
    if (keys.some((key) => this.#last.has(key)) || this.#last.size + keys.length > room) return false
    for (const key of keys) this.#last.set(key, now)
    return true
  }

  #forget(now: number): void {
    for (const [key, at] of this.#last) {
      if (at > now - this.#pause && !isInFuture(at, now)) return
      this.#last.delete(key)
    }
  }
}
