/** What tells of a database whether anything was committed to it. */
export interface Log {
  /** Whether anything was, by anybody, since this was asked last. */
  hasChanged(): boolean
  /** Another number if anything was by anybody but this connection, since this was asked last. */
  others(): unknown
}

// Of a minute in which some hundred are written each second.
const most = 50_000

/**
 * What was committed to a database since rows were read by a connection to it: by anybody, which may have changed any row, or
 * by an update of this connection, of which it is known which rows it has changed.
 */
export class Commits {
  readonly #log: Log
  readonly #tables = new Map<string, Map<unknown, number>>()
  #count = 0
  #lost = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** How many were seen. */
  get count(): number {
    return this.#count
  }

  /** How many of them may have changed any row: what was read before may be different. */
  get lost(): number {
    return this.#lost
  }

  /** The rows of a table that are known to be changed, by their primary keys: which commit was the last to do so. */
  changedIn(table: string): ReadonlyMap<unknown, number> {
    return this.#changedIn(table)
  }

  /** Looks whether there are more. */
  look(): void {
    if (this.#log.hasChanged()) this.#loseAll()
  }

  /**
   * Runs an update that is committed when it returns.
   *
   * @param update returns the primary keys of the rows that it has changed, if it has changed nothing else
   */
  run(table: string, update: () => readonly unknown[] | undefined): void {
    const others = this.#log.others()
    this.look()
    const keys = update()
    if (!this.#log.hasChanged()) return
    let isOnlyOurs = false
    try {
      isOnlyOurs = this.#log.others() === others
    } finally {
      if (keys && isOnlyOurs) this.#note(table, keys)
      else this.#loseAll()
    }
  }

  #note(table: string, keys: readonly unknown[]): void {
    this.#count += 1
    const changed = this.#changedIn(table)
    for (const key of keys) {
      // In the order in which they were changed last.
      changed.delete(key)
      changed.set(key, this.#count)
    }
    for (const [key, count] of changed) {
      if (changed.size <= most) break
      changed.delete(key)
      this.#lost = Math.max(this.#lost, count)
    }
  }

  #loseAll(): void {
    this.#count += 1
    this.#lost = this.#count
    for (const each of this.#tables.values()) each.clear()
  }

  // Names are the same in any case.
  #changedIn(table: string): Map<unknown, number> {
    const name = table.toLowerCase()
    const changed = this.#tables.get(name) ?? new Map<unknown, number>()
    this.#tables.set(name, changed)
    return changed
  }
}
