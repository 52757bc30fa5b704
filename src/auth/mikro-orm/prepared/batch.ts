import type { Key } from '../look-ups.ts'
import type { Load, Row } from './prepared-statement.ts'

// Taken when the module loads, because fake timers of a test would stop all look-ups.
const afterTurn = setImmediate

/** Loads the rows for all keys of one event-loop turn together, as DataLoader does. Caches nothing. */
export class Batch {
  readonly #load: Load
  #waiting: { key: Key; resolve(row: Row | undefined): void; reject(error: unknown): void }[] = []

  constructor(load: Load) {
    this.#load = load
  }

  get(key: Key): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ key, resolve, reject }) === 1) afterTurn(() => this.#run())
    })
  }

  async #run(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    try {
      const rows = await this.#load(waiting.map(({ key }) => key))
      for (const [i, { resolve }] of waiting.entries()) resolve(rows[i])
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}
