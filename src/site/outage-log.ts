import { type Logger, loggable } from '../log/log.ts'

/** Logs the begin and the end of an outage of the database, instead of a line for each failed request. */
export class OutageLog {
  readonly #log: Logger
  readonly #quiet: number
  readonly #codes = new Set<unknown>()
  #failed = 0
  #end: NodeJS.Timeout | undefined

  /** @param quiet the time without a failed request after which an outage is over, in milliseconds */
  constructor(log: Logger, quiet = 10_000) {
    this.#log = log
    this.#quiet = quiet
  }

  /** Counts a request that failed because the database was unavailable. Logs the first error of each code. */
  count(error: unknown, request: unknown, code?: string): void {
    this.#failed += 1
    const isNew = !this.#codes.has(code)
    this.#codes.add(code)
    if (isNew) this.#log.error({ ...loggable(error), request }, 'the database is unavailable')
    this.#end ??= setTimeout(() => this.#finish(), this.#quiet).unref()
    this.#end.refresh()
  }

  #finish(): void {
    this.#log.warn({ failed: this.#failed }, 'no request has failed for a while: the outage is over')
    this.#failed = 0
    this.#codes.clear()
    this.#end = undefined
  }
}
