import { DriverException, type EntityManager, type MikroORM } from '@mikro-orm/core'
import { Misuse } from '../errors.ts'
import { databaseOf, entityManager, type Found, isInUse, noteFound, readOptionsOf } from './databases.ts'
import { Busy, type ReadOptions, type Row } from './prepared-read.ts'
import { Select, type Sought } from './select.ts'

/**
 * Finds an entity by one of its values, as authentication does on every request: by a prepared statement of the driver
 * that MikroORM opened, and with nothing of its unit of work. Whatever is looked up in the same turn of the event loop is
 * looked up together, at its end. When the handler asks for an entity manager, the entity is in it as if it had been
 * found there.
 *
 * Where that is not the same, MikroORM is asked in the usual way: for a model that is more than columns, while statements
 * are logged, where the request uses its entity manager already, where SQLite's one connection is in a transaction or streams
 * the rows of a query, and where the statement fails, since MikroORM's driver may know how to wait. Which filters a model
 * has is found out at its first look-up: add those of the entity manager before.
 */
export class LookUp<Model extends object> {
  readonly #sought: Sought<Model>
  readonly #selects = new WeakMap<MikroORM, Promise<Select<Model> | undefined>>()

  constructor(sought: Sought<Model>) {
    this.#sought = sought
  }

  /**
   * The entity, or nobody. Throws if the database cannot be asked.
   *
   * @param value a string or a number, else it throws `Misuse`: an object would be a query
   * @param database the name that it was mounted by, if it is not the default one
   */
  async find(ctx: object, value: string | number, database?: string): Promise<Model | undefined> {
    const orm = databaseOf(ctx, database)
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new Misuse('Look up a text or a number: an object would be a query of its own.')
    if (isInUse(ctx, database) || orm.config.getLogger().isEnabled('query'))
      return this.#ask(ctx, value, database)
    let preparing: Promise<Select<Model> | undefined> | undefined
    let select: Select<Model> | undefined
    let row: Row | undefined
    try {
      preparing = this.#prepared(orm, readOptionsOf(ctx))
      select = await preparing
      row = await select?.row(value)
    } catch (error) {
      // MikroORM's own: its driver has waited already.
      if (error instanceof DriverException) throw error
      if (error instanceof Busy) return this.#ask(ctx, value, database)
      // The connection may be another one by now. Whoever comes prepares it once for all.
      if (this.#selects.get(orm) === preparing) this.#selects.delete(orm)
      select = undefined
    }
    // Something else of the request may have asked for its entity manager meanwhile.
    if (!select || isInUse(ctx, database)) return this.#ask(ctx, value, database)
    return row && made(select, row, ctx, database)
  }

  #prepared(orm: MikroORM, options: ReadOptions): Promise<Select<Model> | undefined> {
    const known = this.#selects.get(orm)
    if (known) return known
    const preparing = Select.prepare(orm, this.#sought, options).catch((error: unknown) => {
      this.#selects.delete(orm)
      throw error
    })
    this.#selects.set(orm, preparing)
    return preparing
  }

  async #ask(ctx: object, value: string | number, database?: string): Promise<Model | undefined> {
    const { model, property, relation } = this.#sought
    // The contracts check the names of properties; MikroORM's types cannot follow a computed one.
    const where = { [property]: value } as object
    const populate = (relation === undefined ? [] : [relation]) as never
    const mayKnowIt = isInUse(ctx, database)
    const em = entityManager(ctx, database)
    // What it knows already it gives without asking, though its filters leave it out.
    if (mayKnowIt && (await em.count<object>(model, where)) === 0) return undefined
    const entity = await em.findOne<object>(model, where, { populate })
    return (entity as Model | null) ?? undefined
  }
}

/** The entity of a row, which the request's entity manager is to know, if there is ever one. */
function made<Model extends object>(
  select: Select<Model>,
  row: Row,
  ctx: object,
  database: string | undefined,
): Model {
  const entity = select.entity(row)
  noteFound(ctx, new FoundRow(select, row, entity, database))
  return entity
}

class FoundRow<Model extends object> implements Found {
  readonly database: string
  readonly #select: Select<Model>
  readonly #row: Row
  readonly #entity: Model

  constructor(select: Select<Model>, row: Row, entity: Model, database = 'default') {
    this.database = database
    this.#select = select
    this.#row = row
    this.#entity = entity
  }

  get entities(): object[] {
    return this.#select.within(this.#entity)
  }

  attach(em: EntityManager): void {
    this.#select.attach(em, this.#entity, this.#row)
  }
}
