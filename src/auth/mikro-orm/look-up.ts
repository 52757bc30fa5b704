import { DriverException, type EntityManager, type MikroORM } from '@mikro-orm/core'
import { Misuse } from '../errors.ts'
import type { Row } from './answer.ts'
import { databasesOf, entityManager, type Found } from './databases.ts'
import { Busy, type ReadOptions } from './prepared-read.ts'
import { Select, type Sought } from './select.ts'

/**
 * Finds an entity by one of its values, as authentication does on every request: by a prepared statement of the driver
 * that MikroORM opened, and with nothing of its unit of work. Whatever is looked up in the same turn of the event loop is
 * looked up together, at its end, unless it is known at once. When the handler asks for an entity manager, the entity is in it
 * as if it had been found there.
 *
 * Where that is not the same, MikroORM is asked in the usual way: for a model that is more than columns, while statements
 * are logged, where the request uses its entity manager already, where SQLite's one connection is in a transaction or streams
 * the rows of a query, and where the statement fails, since MikroORM's driver may know how to wait. Which filters a model
 * has is found out at its first look-up: add those of the entity manager before.
 */
export class LookUp<Model extends object> {
  readonly #sought: Sought<Model>
  readonly #prepared = new WeakMap<MikroORM, Prepared<Model>>()

  constructor(sought: Sought<Model>) {
    this.#sought = sought
  }

  /**
   * The entity, or nobody. Throws if the database cannot be asked.
   *
   * @param value a string or a number, else it throws `Misuse`: an object would be a query. With a NUL in it, it stands for nobody
   * @param database the name that it was mounted by, if it is not the default one
   */
  async find(ctx: object, value: string | number, database?: string): Promise<Model | undefined> {
    return await this.use(ctx, value, (entity) => entity, database)
  }

  /**
   * What `use` returns for the entity, or for nobody. Await it: it is a promise, or what `use` returns or throws at once, where the
   * entity is known. That is sooner than to make a promise of an entity, which looks for a `then` in it and in all of its prototypes.
   */
  use<Result>(
    ctx: object,
    value: string | number,
    use: (entity: Model | undefined) => Result | Promise<Result>,
    database?: string,
  ): Result | Promise<Result> {
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new Misuse('Look up a text or a number: an object would be a query of its own.')
    // A text ends there, for many a database.
    if (typeof value === 'string' && value.includes('\0')) return use(undefined)
    const databases = databasesOf(ctx)
    const orm = databases.database(database)
    if (databases.isInUse(database) || orm.config.getLogger().isEnabled('query'))
      return this.#ask(ctx, value, database).then(use)
    const select = this.#prepared.get(orm)?.select
    const these = databases.together()
    const row = select && these && knownRow(select, value, these)
    if (!row) return this.#askFor(ctx, value, use, database)
    return use(databases.note(new FoundRow(select, row, database)).entity)
  }

  async #askFor<Result>(
    ctx: object,
    value: string | number,
    use: (entity: Model | undefined) => Result | Promise<Result>,
    database?: string,
  ): Promise<Result> {
    const databases = databasesOf(ctx)
    const orm = databases.database(database)
    let prepared: Prepared<Model> | undefined
    let select: Select<Model> | undefined
    let row: Row | undefined
    try {
      prepared = this.#prepare(orm, databases.options)
      select = prepared.select ?? (await prepared.preparing)
      const answer = select?.ask(value)
      if (answer) await answer.ready
      row = answer?.row()
    } catch (error) {
      // MikroORM's own: its driver has waited already.
      if (error instanceof DriverException) throw error
      // The connection may be another one by now. Whoever comes prepares it once for all.
      const isBroken = !(error instanceof Busy) && this.#prepared.get(orm) === prepared
      if (isBroken) this.#prepared.delete(orm)
      select = undefined
    }
    // Something else of the request may have asked for its entity manager meanwhile.
    if (!select || databases.isInUse(database)) return use(await this.#ask(ctx, value, database))
    return use(row && databases.note(new FoundRow(select, row, database)).entity)
  }

  #prepare(orm: MikroORM, options: ReadOptions): Prepared<Model> {
    const known = this.#prepared.get(orm)
    if (known) return known
    const preparing = Select.prepare(orm, this.#sought, options)
    const prepared: Prepared<Model> = { preparing, select: undefined }
    this.#prepared.set(orm, prepared)
    preparing.then(
      (select) => {
        prepared.select = select
      },
      () => this.#prepared.delete(orm),
    )
    return prepared
  }

  async #ask(ctx: object, value: string | number, database?: string): Promise<Model | undefined> {
    const { model, property, relation } = this.#sought
    // The contracts check the names of properties; MikroORM's types cannot follow a computed one.
    const where = { [property]: value } as object
    const populate = (relation === undefined ? [] : [relation]) as never
    const mayKnowIt = databasesOf(ctx).isInUse(database)
    const em = entityManager(ctx, database)
    // What it knows already it gives without asking, though its filters leave it out.
    if (mayKnowIt && (await em.count<object>(model, where)) === 0) return undefined
    const entity = await em.findOne<object>(model, where, { populate })
    return (entity as Model | null) ?? undefined
  }
}

/** A statement; `undefined` where there can be none, and while it is prepared. */
interface Prepared<Model extends object> {
  readonly preparing: Promise<Select<Model> | undefined>
  select: Select<Model> | undefined
}

/** The row at once, if it is known. */
function knownRow(select: Select<object>, value: string | number, these: object): Row | undefined {
  try {
    return select.known(value, these)
  } catch {
    // It is asked for then: that finds out the same, and what can be done.
    return undefined
  }
}

/** The entity of a row, which the request's entity manager is to know, if there is ever one. */
class FoundRow<Model extends object> implements Found {
  readonly database: string
  readonly entity: Model
  readonly #select: Select<Model>
  readonly #row: Row

  constructor(select: Select<Model>, row: Row, database = 'default') {
    this.database = database
    this.entity = select.entity(row)
    this.#select = select
    this.#row = row
  }

  get entities(): object[] {
    return this.#select.within(this.entity)
  }

  attach(em: EntityManager): void {
    this.#select.attach(em, this.entity, this.#row)
  }
}
