import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { isInAHurry } from '../without-waiting.ts'

const longestPause = 20

/**
 * Waits for a database that is busy, without blocking the event loop, which SQLite's own busy timeout would. Of all who
 * wait, only the first one tries again and again: hundreds of them do it no oftener than one.
 */
export class Patience {
  readonly #milliseconds: number
  #last: Promise<unknown> = Promise.resolve()

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /** Does the work, which must be all or nothing, at once or as soon as nobody else is at it; in the end the error stands. */
  async run<Result>(work: () => Result): Promise<Result> {
    const deadline = performance.now() + this.#milliseconds
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || isInAHurry()) throw error
      const result = this.#last.then(() => retry(work, deadline, error))
      // What all of them do next is not done in one go either.
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

/** What SQLite throws while another connection is at work; `SQLITE_BUSY_RECOVERY`, say, after it was killed. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
