/** What tells of a database whether anything was committed to it. */
export interface Log {
  /** Whether anything was, by anybody, since this was asked last. */
  hasChanged(): boolean
  /** Another number if anything was by anybody but this connection, since this was asked last. */
  others(): unknown
  /** Throws if this is no moment to tell how the database is. */
  assertReadable?(): void
}

/** The rows of a table that are known to be changed, by the column that is its primary key: which commit was the last to do so. */
type Changed = Map<unknown, number>

// Of a minute in which some hundred are written each second.
const most = 50_000

/**
 * What was committed to a database since rows were read by a connection to it: by anybody, which may have changed any row, or
 * by an update of this connection, of which it is known which rows it has changed.
 */
export class Commits {
  readonly #log: Log
  readonly #tables = new Map<string, { readonly key: string; readonly changed: Changed }>()
  #count = 0
  #lost = 0
  #since = 0
  #hasLookedFor: object | undefined

  constructor(log: Log) {
    this.#log = log
  }

  /** How many were seen. */
  get count(): number {
    return this.#count
  }

  /** The last of them that may have changed any row. */
  get lost(): number {
    return this.#lost
  }

  /** Since which of them it is known which rows were changed. */
  get since(): number {
    return this.#since
  }

  /** The rows of a table that were changed since then; `undefined` if they are not known by that column, but by another. */
  changedIn(table: string, key: string): ReadonlyMap<unknown, number> | undefined {
    return this.#changedIn(table, key)
  }

  /** Looks whether there are more. */
  look(): void {
    if (this.#log.hasChanged()) this.#loseAll()
  }

  /**
   * The same for all who are told together, and had all come before: for all of them it looks once. Throws if this is no moment to
   * tell how the database is.
   */
  lookOnceFor(these: object): void {
    if (this.#hasLookedFor === these) return
    this.#log.assertReadable?.()
    this.look()
    this.#hasLookedFor = these
  }

  /**
   * Runs an update that is committed when it returns, while no other statement of this connection is open.
   *
   * @param update returns the primary keys of the rows that it has changed, if it has changed nothing else
   */
  run(table: string, key: string, update: () => readonly unknown[] | undefined): void {
    const others = this.#log.others()
    this.look()
    const keys = update()
    if (!this.#log.hasChanged()) return
    const changed = this.#changedIn(table, key)
    let isOnlyOurs = false
    try {
      isOnlyOurs = this.#log.others() === others
    } finally {
      if (keys && changed && isOnlyOurs) this.#note(changed, keys)
      else this.#loseAll()
    }
  }

  #note(changed: Changed, keys: readonly unknown[]): void {
    this.#count += 1
    for (const key of keys) {
      // In the order in which they were changed last.
      changed.delete(key)
      changed.set(key, this.#count)
    }
    for (const [key, count] of changed) {
      if (changed.size <= most) break
      changed.delete(key)
      this.#since = Math.max(this.#since, count)
    }
  }

  #loseAll(): void {
    this.#count += 1
    this.#lost = this.#count
    this.#since = this.#count
    for (const { changed } of this.#tables.values()) changed.clear()
  }

  // Names are the same in any case.
  #changedIn(table: string, key: string): Changed | undefined {
    const name = table.toLowerCase()
    const known = this.#tables.get(name) ?? { key: key.toLowerCase(), changed: new Map() }
    this.#tables.set(name, known)
    return known.key === key.toLowerCase() ? known.changed : undefined
  }
}
