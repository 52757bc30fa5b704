interface Waiting<Key, Row> {
  readonly key: Key
  resolve(row: Row | undefined): void
  reject(error: unknown): void
}

/** Loads together what is asked for in one turn of the event loop, as DataLoader does. Caches nothing. */
export class Batch<Key, Row> {
  readonly #load: (keys: Key[]) => (Row | undefined)[] | Promise<(Row | undefined)[]>
  #waiting: Waiting<Key, Row>[] = []

  /** @param load returns a row, or `undefined`, for each key, in the same order */
  constructor(load: (keys: Key[]) => (Row | undefined)[] | Promise<(Row | undefined)[]>) {
    this.#load = load
  }

  get(key: Key): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ key, resolve, reject }) === 1) setImmediate(() => this.#run())
    })
  }

  async #run(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    try {
      const rows = await this.#load(waiting.map(({ key }) => key))
      waiting.forEach(({ resolve }, i) => {
        resolve(rows[i])
      })
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}
