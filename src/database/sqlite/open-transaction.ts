import type { VirtualConnection } from './virtual-connection.ts'

// An idle transaction blocks all other statements.
const idleTimeout = 2_000

/** The open transaction, its owner and its idle timeout. */
export class OpenTransaction {
  readonly owner: VirtualConnection
  readonly #ended = Promise.withResolvers<void>()
  readonly #timer: NodeJS.Timeout

  constructor(owner: VirtualConnection, onIdle: () => void) {
    this.owner = owner
    this.#timer = setTimeout(onIdle, idleTimeout).unref()
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  restartTimeout(): void {
    this.#timer.refresh()
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#ended.resolve()
  }
}
