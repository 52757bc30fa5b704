import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

const longestPause = 20

/**
 * Retries work while SQLite is busy, with a back-off and without blocking the event loop. Waiting calls form a queue:
 * only the first one retries, so the number of retries does not grow with the number of calls.
 */
export class RetryQueue {
  readonly #timeout: number
  #last: Promise<unknown> = Promise.resolve()

  /** @param timeout the milliseconds after which a call fails with SQLite's busy error */
  constructor(timeout: number) {
    this.#timeout = timeout
  }

  /** @param work a synchronous call that changes nothing when it throws */
  async retryWhileBusy<Result>(work: () => Result): Promise<Result> {
    const deadline = performance.now() + this.#timeout
    try {
      return work()
    } catch (error) {
      if (!isBusy(error)) throw error
      const result = this.#last.then(() => retry(work, deadline, error))
      // The event loop runs between two calls, so that a long queue does not block it.
      this.#last = result.catch(() => {}).then(() => turn())
      return result
    }
  }
}

async function retry<Result>(work: () => Result, deadline: number, busy: unknown): Promise<Result> {
  for (let pause = 1; performance.now() < deadline; pause = Math.min(2 * pause, longestPause)) {
    await sleep(pause)
    try {
      return work()
    } catch (error) {
      if (!isBusy(error)) throw error
    }
  }
  throw busy
}

/** Whether the database is locked. Includes extended codes such as `SQLITE_BUSY_RECOVERY`. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
