import { setImmediate as turn } from 'node:timers/promises'
import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/core'
import type { Class } from '../class.ts'
import { Misuse } from '../errors.ts'
import { type DateKey, primaryKeyOf } from './model.ts'

const minute = 60_000
const second = 1_000
// As many as are written in a few milliseconds.
const batch = 500
const room = 100_000

type Key = string | number
type Note = readonly [key: Key, time: number]

/** What is to be done when notes cannot be written. */
export interface LastUsesOptions {
  /** Called when that has failed twice in a row, and not again before it succeeds; and if the last time fails. Must not throw. */
  readonly onError: (error: unknown) => void
}

/**
 * Notes when entities were last used, tokens or sessions, say: of each at most once a minute, and all notes of a second are
 * written down together, behind the answers, so that no request fails with it. Rows that somebody has locked are left alone
 * until they are used again. Other processes know of a use when it is written; a process that is killed loses what is not.
 */
export class LastUses<Entity extends object> {
  readonly #orm: MikroORM
  readonly #model: Class<Entity>
  readonly #key: string
  readonly #at: string
  readonly #onError: (error: unknown) => void
  readonly #noted = new Map<Key, number>()
  #written: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #isClosed = false

  /**
   * @param model throws `Misuse` if it has not one primary key, a text or a number
   * @param at the property that says when, which may be nullable; throws `Misuse` if it is no column
   */
  constructor(orm: MikroORM, model: Class<Entity>, at: DateKey<Entity>, { onError }: LastUsesOptions) {
    this.#orm = orm
    this.#model = model
    const { name, runtimeType } = primaryKeyOf(orm.em, model)
    if (runtimeType !== 'string' && runtimeType !== 'number')
      throw new Misuse(`The primary key of ${model.name} is neither a text nor a number.`)
    if (!Object.hasOwn(orm.getMetadata().get<object>(model).properties, at))
      throw new Misuse(`${model.name} has no column \`${at}\` to say when it was last used.`)
    this.#key = name
    this.#at = at
    this.#onError = onError
  }

  /** Notes that an entity is used now, if it was not used within the last minute. Returns at once. */
  note(entity: Entity, now = Date.now()): void {
    const last = this.of(entity)
    if (last && now - last.getTime() < minute) return
    const key = this.#keyOf(entity)
    if (this.#noted.size >= room && !this.#noted.has(key)) return
    this.#noted.set(key, now)
    this.#writeLater()
  }

  /** When an entity was last used: as it says itself, or later, as it is noted; `undefined` if never. */
  of(entity: Entity): Date | undefined {
    // Its type was proven to be that of a date; what is null was never used.
    const last = (Reflect.get(entity, this.#at) as Date | null | undefined) ?? undefined
    const noted = this.#noted.size > 0 ? this.#noted.get(this.#keyOf(entity)) : undefined
    return noted === undefined || (last && last.getTime() >= noted) ? last : new Date(noted)
  }

  /** Writes down what has been noted; what cannot be written now is tried again a second later. */
  write(): Promise<void> {
    const write = () => this.#writeAll()
    this.#written = this.#written.then(write, write)
    return this.#written
  }

  /** Writes for the last time. Call it when the last request is answered, and before the database is closed. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.write()
  }

  async #writeAll(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const errors: unknown[] = []
    for (const notes of batches([...this.#noted])) {
      // One may have a row that nobody can write; where two fail, each may have waited for the database.
      if (errors.length === 2) break
      try {
        await this.#writeDown(notes)
      } catch (error) {
        errors.push(error)
      }
      await turn()
    }
    this.#failures = errors.length > 0 ? this.#failures + 1 : 0
    if (errors.length === 0) return
    this.#writeLater()
    // Once may be a collision.
    if (this.#failures === 2 || this.#isClosed) this.#onError(errors[0])
  }

  async #writeDown(notes: readonly Note[]): Promise<void> {
    // Of all of them: nothing lives longer for being written down together.
    const time = Math.min(...notes.map(([, time]) => time))
    // What another process has noted of the same use it need not be told again.
    const before = new Date(time - minute / 2)
    const rows = {
      [this.#key]: { $in: notes.map(([key]) => key) },
      $or: [{ [this.#at]: null }, { [this.#at]: { $lte: before } }],
    }
    const change = { [this.#at]: new Date(time) }
    const em = this.#orm.em.fork()
    if (locksRows(em)) await em.transactional((em) => this.#changeUnlocked(em, rows, change))
    else await em.nativeUpdate<object>(this.#model, rows, change, { filters: false })
    // Unless it was used again meanwhile.
    for (const [key, time] of notes) if (this.#noted.get(key) === time) this.#noted.delete(key)
  }

  // Two that waited for what the other has locked would wait for ever.
  async #changeUnlocked(em: EntityManager, rows: object, change: object): Promise<void> {
    const found: object[] = await em.find<object>(this.#model, rows, {
      fields: [this.#key as never],
      filters: false,
      lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
    })
    if (found.length === 0) return
    const these = { [this.#key]: { $in: found.map((each) => Reflect.get(each, this.#key)) } }
    await em.nativeUpdate<object>(this.#model, these, change, { filters: false })
  }

  #keyOf(entity: Entity): Key {
    return Reflect.get(entity, this.#key) as Key
  }

  #writeLater(): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.write(), second).unref()
  }
}

/** Notes of the same second, not too many at once: after an outage there are those of many. */
function* batches(notes: readonly Note[]): Generator<readonly Note[]> {
  const inOrder = notes.toSorted(([, one], [, other]) => one - other)
  let first = 0
  for (const [i, [, time]] of inOrder.entries()) {
    const start = inOrder[first]?.[1] ?? time
    if (i - first < batch && time - start < second) continue
    yield inOrder.slice(first, i)
    first = i
  }
  if (first < inOrder.length) yield inOrder.slice(first)
}

/** Whether the database locks rows, as PostgreSQL does. SQLite locks the whole file. */
function locksRows(em: EntityManager): boolean {
  return em.getPlatform().getDefaultSchemaName() === 'public'
}
