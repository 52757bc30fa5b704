import type { Handle } from './handle.ts'

// Everybody else waits for a transaction that waits for something else.
const longestPause = 2_000

/** A transaction that is open: whose it is, and when it is over. One that pauses for too long is given up. */
export class OpenTransaction {
  readonly handle: Handle
  readonly #ended = Promise.withResolvers<void>()
  readonly #timer: NodeJS.Timeout

  constructor(handle: Handle, giveUp: () => void) {
    this.handle = handle
    this.#timer = setTimeout(giveUp, longestPause).unref()
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  goOn(): void {
    this.#timer.refresh()
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#ended.resolve()
  }
}
