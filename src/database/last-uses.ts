import { setImmediate as turn } from 'node:timers/promises'
import { type EntityClass, type EntityManager, LockMode, type MikroORM } from '@mikro-orm/core'
import { type Logger, loggable } from '../log.ts'
import { isPostgres } from './is-postgres.ts'
import { withoutWaiting } from './without-waiting.ts'

const minute = 60_000
const pause = 1_000
// As many as one statement writes in a few milliseconds.
const batch = 500
const room = 100_000

/** Rows that say when they were last used. */
export interface Used {
  readonly model: EntityClass<object>
  readonly key: string
  readonly at: string
}

/**
 * @param key the property that is their primary key, a text
 * @param at the property that says when
 */
export function used<Entity extends object>(
  model: EntityClass<Entity>,
  { key, at }: { key: keyof Entity & string; at: keyof Entity & string },
): Used {
  return { model, key, at }
}

/**
 * Notes when rows were last used, of each at most once a minute, and writes down the notes of a second together: no request
 * waits for that or fails with it. A process that is killed loses what it noted in its last second.
 */
export class LastUses {
  readonly #orm: MikroORM
  readonly #log: Logger
  readonly #noted = new Map<Used, Map<string, number>>()
  #written: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isFailing = false
  #isClosed = false

  constructor(orm: MikroORM, log: Logger) {
    this.#orm = orm
    this.#log = log
  }

  /** Notes that the row with this key is used now, if a minute has passed since it was, by what it says itself. */
  note(used: Used, key: string, last: Date | null | undefined, now = Date.now()): void {
    const noted = this.#notedOf(used)
    const before = noted.get(key) ?? last?.getTime()
    if ((before !== undefined && now - before < minute) || noted.size >= room) return
    noted.set(key, now)
    this.#writeLater()
  }

  /** When it was last used, by what it says itself or by what is still to be written down. */
  last(used: Used, key: string, last: Date): Date {
    const noted = this.#noted.get(used)?.get(key)
    return noted === undefined ? last : new Date(noted)
  }

  /** Writes down what has been noted. What cannot be written now will be later; the log says so the first time. */
  write(): Promise<void> {
    this.#written = this.#written.then(() => this.#writeAll())
    return this.#written
  }

  /** Writes for the last time, as far as that can be done: the database is about to be closed. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.write()
  }

  async #writeAll(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    try {
      for (const [used, noted] of this.#noted) await this.#writeThose(used, noted)
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) this.#log.error(loggable(error), 'last uses cannot be written down')
      this.#isFailing = true
      this.#writeLater()
    }
  }

  async #writeThose(used: Used, noted: Map<string, number>): Promise<void> {
    const all = [...noted]
    for (let first = 0; first < all.length; first += batch) {
      const some = all.slice(first, first + batch)
      await withoutWaiting(() => write(this.#orm.em.fork(), used, some))
      for (const [key, time] of some) if (noted.get(key) === time) noted.delete(key)
      await turn()
    }
  }

  #writeLater(): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.write(), pause).unref()
  }

  #notedOf(used: Used): Map<string, number> {
    const noted = this.#noted.get(used) ?? new Map<string, number>()
    this.#noted.set(used, noted)
    return noted
  }
}

// All of them at the time of the first: nothing lives longer for being written down together.
async function write(em: EntityManager, { model, key, at }: Used, noted: [string, number][]): Promise<void> {
  const time = new Date(Math.min(...noted.map(([, time]) => time)))
  const earlier = { $or: [{ [at]: null }, { [at]: { $lt: time } }] }
  const rows = { [key]: { $in: noted.map(([key]) => key) }, ...earlier }
  const change = { [at]: time }
  if (!isPostgres(em)) {
    await em.nativeUpdate<object>(model, rows, change, { filters: false })
    return
  }
  // What somebody else has locked is about to end, as a rule; two that waited for one another would wait for ever.
  await em.transactional(async (em) => {
    const found: object[] = await em.find<object>(model, rows, {
      fields: [key as never],
      filters: false,
      lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
    })
    const free = { [key]: { $in: found.map((each) => Reflect.get(each, key)) } }
    if (found.length > 0) await em.nativeUpdate<object>(model, free, change, { filters: false })
  })
}
