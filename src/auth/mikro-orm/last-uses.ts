import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/core'
import type { Class } from '../checks.ts'
import { Misuse } from '../errors.ts'
import { type DateKey, primaryKeyOf } from './model.ts'

// Taken when the module loads, because fake timers of a test would stop all writes.
const { clearTimeout, setTimeout } = globalThis
const minute = 60_000
const second = 1_000
const batchSize = 500

type Key = string | number

/** Options of `LastUses`. */
export interface LastUsesOptions {
  /** Called if a write fails, but once only until a write succeeds again. Must not throw. */
  readonly onError: (error: unknown) => void
}

/**
 * Stores when tokens, sessions or other entities were last used, at most once a minute for each. Writes in batches, one
 * second later, and skips locked rows on PostgreSQL. If a write fails or the process is killed, the uses of that second are lost, and
 * the next request notes a new use.
 */
export class LastUses<Entity extends object> {
  readonly model: Class<Entity>
  readonly #orm: MikroORM
  readonly #key: string
  readonly #at: string
  readonly #onError: (error: unknown) => void
  readonly #noted = new Map<Key, number>()
  #written: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #hasFailed = false

  /**
   * @param model must have one primary key that is a string or a number, else throws `Misuse`
   * @param at the property for the time. It may be nullable
   */
  constructor(orm: MikroORM, model: Class<Entity>, at: DateKey<Entity>, { onError }: LastUsesOptions) {
    this.#orm = orm
    this.model = model
    const { name, runtimeType } = primaryKeyOf(orm.em, model)
    if (runtimeType !== 'string' && runtimeType !== 'number')
      throw new Misuse(`The primary key of ${model.name} must be a string or a number.`)
    this.#key = name
    this.#at = at
    this.#onError = onError
  }

  /** Notes a use for a later write. Ignores a use within a minute after the last one. */
  note(entity: Entity, now = Date.now()): void {
    const last = this.of(entity)
    if (last && now - last.getTime() < minute) return
    this.#noted.set(this.#keyOf(entity), now)
    this.#timer ??= setTimeout(() => this.write(), second).unref()
  }

  /** The last use of an entity, from its property or from a note that is not written yet. */
  of(entity: Entity): Date | undefined {
    const last = (Reflect.get(entity, this.#at) as Date | null | undefined) ?? undefined
    const noted = this.#noted.get(this.#keyOf(entity))
    return noted === undefined || (last && last.getTime() >= noted) ? last : new Date(noted)
  }

  /** Writes all notes. Call it after the last response and before closing the database. */
  write(): Promise<void> {
    this.#written = this.#written.then(() => this.#writeAll())
    return this.#written
  }

  async #writeAll(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const notes = [...this.#noted]
    try {
      for (let i = 0; i < notes.length; i += batchSize) await this.#writeBatch(notes.slice(i, i + batchSize))
      this.#hasFailed = false
    } catch (error) {
      if (!this.#hasFailed) this.#onError(error)
      this.#hasFailed = true
    }
    // Keeps a note that was renewed during the write.
    for (const [key, time] of notes) if (this.#noted.get(key) === time) this.#noted.delete(key)
  }

  async #writeBatch(notes: readonly (readonly [key: Key, time: number])[]): Promise<void> {
    // The earliest time of the batch, so that batching never extends a lifetime.
    const time = Math.min(...notes.map(([, time]) => time))
    // Another process may have written almost the same time already.
    const before = new Date(time - minute / 2)
    const rows = {
      [this.#key]: { $in: notes.map(([key]) => key) },
      $or: [{ [this.#at]: null }, { [this.#at]: { $lte: before } }],
    }
    const change = { [this.#at]: new Date(time) }
    const em = this.#orm.em.fork()
    const update = (em: EntityManager, rows: object) =>
      em.nativeUpdate<object>(this.model, rows, change, { filters: false })
    // PostgreSQL locks rows. SQLite locks the whole file.
    const isPostgres = em.getPlatform().getDefaultSchemaName() === 'public'
    if (!isPostgres) return void (await update(em, rows))
    await em.transactional(async (em) => {
      const fields = [this.#key as never]
      // Skipping locked rows avoids deadlocks between processes that write the same rows.
      const lockMode = LockMode.PESSIMISTIC_PARTIAL_WRITE
      const unlocked = await em.find<object>(this.model, rows, { fields, filters: false, lockMode })
      const keys = unlocked.map((each) => Reflect.get(each, this.#key))
      if (keys.length > 0) await update(em, { [this.#key]: { $in: keys } })
    })
  }

  #keyOf(entity: Entity): Key {
    return Reflect.get(entity, this.#key) as Key
  }
}
