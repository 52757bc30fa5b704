const openTime = 1_000

/**
 * Circuit breaker for a server that does not respond. When the breaker opens, the waiting calls fail. During the next second,
 * further calls fail immediately. Otherwise, the timeouts of consecutive calls of one request would add up.
 */
export class CircuitBreaker {
  /** How often the breaker has opened. */
  openings = 0
  readonly #waiting = new Set<(error: Error) => void>()
  #error: Error | undefined
  #openUntil = 0

  open(error: Error): void {
    this.openings += 1
    this.#error = error
    this.#openUntil = performance.now() + openTime
    for (const reject of this.#waiting) reject(error)
  }

  close(): void {
    this.#openUntil = 0
  }

  /** Runs work unless the breaker is open. If the breaker opens meanwhile, the call fails, and `undo` receives the late result. */
  run<Result>(work: () => Promise<Result>, undo: (late: Result) => void): Promise<Result> {
    if (this.#error && performance.now() < this.#openUntil) return Promise.reject(this.#error)
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    let isSettled = false
    const settle = () => {
      isSettled = true
      this.#waiting.delete(reject)
    }
    this.#waiting.add(reject)
    promise.then(settle, settle)
    work().then((result) => (isSettled ? undo(result) : resolve(result)), reject)
    return promise
  }
}
