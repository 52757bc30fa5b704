// As long as it takes to look again, and no longer than a visitor would wait.
const pause = 1_000

/**
 * A server that does not answer. Whoever waits for it when that turns out, or comes within the next second, is told so at
 * once: to find it out takes seconds, and those of one request after the other would add up.
 */
export class Outage {
  readonly #waiting = new Set<(error: Error) => void>()
  #error: Error | undefined
  #until = 0
  #count = 0

  /** How often it turned out that there is one. */
  get count(): number {
    return this.#count
  }

  /** Says that there is one. */
  begin(error: Error): void {
    this.#count += 1
    this.#error = error
    this.#until = performance.now() + pause
    for (const reject of this.#waiting) reject(error)
  }

  /** Says that the server has answered. */
  end(): void {
    this.#until = 0
  }

  /** Waits for something until there is an outage. What comes later than that is undone. */
  wait<Result>(work: () => Promise<Result>, undo: (late: Result) => void): Promise<Result> {
    if (this.#error && performance.now() < this.#until) return Promise.reject(this.#error)
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    let isOver = false
    const give = (result: Result) => (isOver ? undo(result) : resolve(result))
    const stop = () => {
      isOver = true
      this.#waiting.delete(reject)
    }
    this.#waiting.add(reject)
    promise.then(stop, stop)
    work().then(give, reject)
    return promise
  }
}
