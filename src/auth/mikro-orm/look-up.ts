import type { MikroORM } from '@mikro-orm/core'
import { databaseOf, entityManager, found, isInUse, readOptionsOf } from './databases.ts'
import type { ReadOptions } from './prepared-read.ts'
import { Select, type Sought } from './select.ts'

/**
 * Finds an entity by one of its values, as authentication does on every request: by a prepared statement of the driver
 * that MikroORM opened, and with nothing of its unit of work. When the handler asks for an entity manager, the entity is
 * in it as if it had been found there.
 *
 * Where that is not the same, MikroORM is asked in the usual way: for a model that is more than columns, while statements
 * are logged, where the request uses its entity manager already, and where the statement fails, since MikroORM's driver may
 * know how to wait.
 */
export class LookUp<Model extends object> {
  readonly #sought: Sought<Model>
  readonly #selects = new WeakMap<MikroORM, Select<Model> | undefined>()

  constructor(sought: Sought<Model>) {
    this.#sought = sought
  }

  /**
   * The entity, or nobody. Throws if the database cannot be asked.
   *
   * @param value proven to be a string or a number by now: an object would be a query
   * @param database the name that it was mounted by, if it is not the default one
   */
  async find(ctx: object, value: string | number, database?: string): Promise<Model | undefined> {
    const orm = databaseOf(ctx, database)
    if (isInUse(ctx, database) || orm.config.getLogger().isEnabled('query'))
      return this.#ask(ctx, value, database)
    try {
      const select = this.#selects.has(orm)
        ? this.#selects.get(orm)
        : await this.#prepare(orm, readOptionsOf(ctx))
      if (!select) return this.#ask(ctx, value, database)
      const row = await select.row(value)
      if (!row) return undefined
      const entity = select.entity(row)
      found(ctx, (em) => select.attach(em, entity, row), database)
      return entity
    } catch {
      // The connection may be another one by now.
      this.#selects.delete(orm)
      return this.#ask(ctx, value, database)
    }
  }

  async #prepare(orm: MikroORM, options: ReadOptions): Promise<Select<Model> | undefined> {
    const select = await Select.prepare(orm, this.#sought, options)
    this.#selects.set(orm, select)
    return select
  }

  async #ask(ctx: object, value: string | number, database?: string): Promise<Model | undefined> {
    const { model, property, relation } = this.#sought
    // The contracts check the names of properties; MikroORM's types cannot follow a computed one.
    const where = { [property]: value } as object
    const populate = (relation === undefined ? [] : [relation]) as never
    const entity = await entityManager(ctx, database).findOne<object>(model, where, { populate })
    return (entity as Model | null) ?? undefined
  }
}
