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
  #recent = new Map<string | number, Row>()
  #older = new Map<string | number, Row>()

  /** @param most how many rows it holds, in two generations */
  constructor(watch: Watch, most = 20_000) {
    this.#watch = watch
    this.#most = most
  }

  /** The row for that value, as it was read or as `read` reads it now. Nobody is not remembered: strangers could fill it. */
  row(value: string | number, read: () => Row | undefined): Row | undefined {
    return this.#known(value) ?? this.#read(value, read)
  }

  /** What still is as it was read: whatever is here was read since the watch was looked at, or was right then. */
  #known(value: string | number): Row | undefined {
    const recent = this.#recent.get(value)
    const known = recent ?? this.#older.get(value)
    if (known === undefined) return undefined
    if (this.#watch.hasChanged()) {
      this.#recent = new Map()
      this.#older = new Map()
      return undefined
    }
    if (recent === undefined) this.#keep(value, known)
    return known
  }

  #read(value: string | number, read: () => Row | undefined): Row | undefined {
    const row = read()
    if (row) this.#keep(value, row)
    return row
  }

  #keep(value: string | number, row: Row): void {
    if (this.#recent.size >= this.#most / 2) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(value, row)
  }
}
