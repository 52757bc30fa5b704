import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/core'
import type { Class } from '../checks.ts'
import { Misuse } from '../errors.ts'
import { type DateKey, primaryKeyOf } from './model.ts'

// Taken when the module loads, because fake timers of a test would stop all writes.
const { clearTimeout, setImmediate, setTimeout } = globalThis
const minute = 60_000
const second = 1_000
const batchSize = 500
const maxNotes = 100_000

type Key = string | number
type Note = readonly [key: Key, time: number]

/** Options of `LastUses`. */
export interface LastUsesOptions {
  /** Called once after two failed writes in a row, and if the write at `close` fails. Must not throw. */
  readonly onError: (error: unknown) => void
}

/**
 * Stores when tokens, sessions or other entities were last used, at most once a minute for each. Writes in batches, one
 * second later, and skips locked rows on PostgreSQL. If the process is killed, the uses of the last second are lost.
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
  #failures = 0
  #isClosed = false

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
    if (!Object.hasOwn(orm.getMetadata().get<object>(model).properties, at))
      throw new Misuse(`${model.name} has no property \`${at}\` for the time of its last use.`)
    this.#key = name
    this.#at = at
    this.#onError = onError
  }

  /** Notes a use for a later write. Ignores a use within a minute after the last one. */
  note(entity: Entity, now = Date.now()): void {
    const last = this.of(entity)
    if (last && now - last.getTime() < minute) return
    const key = this.#keyOf(entity)
    if (this.#noted.size >= maxNotes && !this.#noted.has(key)) return
    this.#noted.set(key, now)
    this.#writeLater()
  }

  /** The last use of an entity, from its property or from a note that is not written yet. */
  of(entity: Entity): Date | undefined {
    const last = (Reflect.get(entity, this.#at) as Date | null | undefined) ?? undefined
    const noted = this.#noted.get(this.#keyOf(entity))
    return noted === undefined || (last && last.getTime() >= noted) ? last : new Date(noted)
  }

  /** Writes all notes. Failed writes are retried after a second, except after `close`. */
  write(): Promise<void> {
    const write = () => this.#writeAll()
    this.#written = this.#written.then(write, write)
    return this.#written
  }

  /** Writes all notes and stops. Call it after the last response and before closing the database. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.write()
  }

  async #writeAll(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const errors: unknown[] = []
    for (const notes of batchesOf([...this.#noted])) {
      // A single bad row can cause one failure. After two failures, the database is probably down.
      if (errors.length === 2) break
      try {
        await this.#writeBatch(notes)
      } catch (error) {
        errors.push(error)
      }
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    this.#failures = errors.length > 0 ? this.#failures + 1 : 0
    if (errors.length === 0) return
    this.#writeLater()
    // A single failure may be a lock conflict.
    if (this.#failures === 2 || this.#isClosed) this.#onError(errors[0])
  }

  async #writeBatch(notes: readonly Note[]): Promise<void> {
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
    // PostgreSQL locks rows. SQLite locks the whole file.
    if (em.getPlatform().getDefaultSchemaName() === 'public')
      await em.transactional((em) => this.#updateUnlocked(em, rows, change))
    else await em.nativeUpdate<object>(this.model, rows, change, { filters: false })
    // Keeps a note that was renewed during the write.
    for (const [key, time] of notes) if (this.#noted.get(key) === time) this.#noted.delete(key)
  }

  // Skipping locked rows avoids deadlocks between processes that write the same rows.
  async #updateUnlocked(em: EntityManager, rows: object, change: object): Promise<void> {
    const found: object[] = await em.find<object>(this.model, rows, {
      fields: [this.#key as never],
      filters: false,
      lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
    })
    if (found.length === 0) return
    const unlocked = { [this.#key]: { $in: found.map((each) => Reflect.get(each, this.#key)) } }
    await em.nativeUpdate<object>(this.model, unlocked, change, { filters: false })
  }

  #keyOf(entity: Entity): Key {
    return Reflect.get(entity, this.#key) as Key
  }

  #writeLater(): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.write(), second).unref()
  }
}

/** Splits notes into batches of the same second, at most `batchSize` each. After an outage, notes span many seconds. */
function* batchesOf(notes: readonly Note[]): Generator<readonly Note[]> {
  for (const group of Map.groupBy(notes, ([, time]) => Math.floor(time / second)).values())
    for (let i = 0; i < group.length; i += batchSize) yield group.slice(i, i + batchSize)
}
