// How long a full table counts as full, in milliseconds.
const recount = 10_000
// An attempt writes a row for each of its allowances.
const rowsPerAttempt = 4

/** Limits the rows of a table without counting them at each attempt. */
export class TableLimit {
  readonly #count: () => Promise<number>
  readonly #most: number
  // Attempts that certainly have room.
  #sure = 0
  #fullUntil = Number.NEGATIVE_INFINITY

  constructor(count: () => Promise<number>, most: number) {
    this.#count = count
    this.#most = most
  }

  /** Whether the table has no room for another attempt. */
  async isFull(): Promise<boolean> {
    if (performance.now() < this.#fullUntil) return true
    if (this.#sure === 0) this.#sure = Math.floor((this.#most - (await this.#count())) / rowsPerAttempt)
    if (this.#sure > 0) {
      this.#sure -= 1
      return false
    }
    this.#sure = 0
    this.#fullUntil = performance.now() + recount
    return true
  }

  /** Counts again at the next attempt, because rows have been deleted. */
  reset(): void {
    this.#sure = 0
    this.#fullUntil = Number.NEGATIVE_INFINITY
  }
}
