// Time until a full table is counted again, in milliseconds.
const recount = 10_000
// An attempt writes a row for each of its allowances, at most four. A mail of the outbox is only one row, so the outbox counts
// its rows more often than necessary.
const rowsPerAttempt = 4

/** Limits the rows of a table, without counting them at each attempt. */
export class TableLimit {
  readonly #count: () => Promise<number>
  readonly #limit: number
  // Attempts that fit into the table without another count.
  #remaining = 0
  #fullUntil = Number.NEGATIVE_INFINITY

  constructor(count: () => Promise<number>, limit: number) {
    this.#count = count
    this.#limit = limit
  }

  /** Whether the table has no room for another attempt. */
  async isFull(): Promise<boolean> {
    if (performance.now() < this.#fullUntil) return true
    if (this.#remaining <= 0)
      this.#remaining = Math.floor((this.#limit - (await this.#count())) / rowsPerAttempt)
    if (this.#remaining > 0) {
      this.#remaining -= 1
      return false
    }
    this.#fullUntil = performance.now() + recount
    return true
  }

  /** Counts again at the next attempt. Called after rows are deleted. */
  reset(): void {
    this.#remaining = 0
    this.#fullUntil = Number.NEGATIVE_INFINITY
  }
}
