import type { Row } from './prepared-read.ts'

/** Tells whether anything that was read may be different by now. */
interface Watch {
  hasChanged(): boolean
}

/**
 * Remembers rows until anything at all is committed to the database, by whichever process: what was revoked, deleted or
 * changed counts for the very next request. Bounded; what was not asked for is forgotten first.
 */
export class RowMemory {
  readonly #watch: Watch
  readonly #most: number
  #recent = new Map<unknown, Row>()
  #older = new Map<unknown, Row>()

  /** @param most how many rows it holds, in two generations */
  constructor(watch: Watch, most = 20_000) {
    this.#watch = watch
    this.#most = most
  }

  /** The row for that value, as it was read or as `read` reads it now. Nobody is not remembered: strangers could fill it. */
  row(value: unknown, read: () => Row | undefined): Row | undefined {
    // Before the row is read: what is committed from here on is noticed the next time.
    if (this.#watch.hasChanged()) {
      this.#recent = new Map()
      this.#older = new Map()
    }
    const known = this.#recent.get(value)
    if (known) return known
    const row = this.#older.get(value) ?? read()
    if (row) this.#keep(value, row)
    return row
  }

  #keep(value: unknown, row: Row): void {
    if (this.#recent.size >= this.#most / 2) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(value, row)
  }
}
