import { type EntityManager, helper, type MikroORM } from '@mikro-orm/core'
import type { RequestDatabases } from '../databases.ts'
import type { Key, LookUpOptions, RequestLookUps } from '../look-ups.ts'
import { NotPrepared } from './not-prepared.ts'
import type { PreparedQueries } from './prepared-queries.ts'

/** The look-ups of one request, and the entities that they found without an entity manager. */
export class PreparedRequest implements RequestLookUps {
  readonly #queries: PreparedQueries
  readonly #databases: RequestDatabases
  #found: { readonly database: string; readonly entities: readonly object[] } | undefined

  constructor(queries: PreparedQueries, databases: RequestDatabases) {
    this.#queries = queries
    this.#databases = databases
  }

  find(options: LookUpOptions, value: Key, database: string, findOne: () => Promise<object | undefined>) {
    const found = this.#find(options, value, database)
    return found.catch((error) => this.#queries.recover(options.model, error, findOne))
  }

  async #find(options: LookUpOptions, value: Key, database: string): Promise<object | undefined> {
    const orm = this.#databases.orm(database)
    this.#requirePlain(orm, database)
    if (this.#found) return this.#again(options, value, database)
    const query = await this.#queries.query(orm, options)
    if (typeof value !== query.keyType)
      throw new NotPrepared(`a value is not a ${query.keyType}`, { isPassing: true })
    const row = await query.find(value)
    this.#requirePlain(orm, database)
    if (this.#found) return this.#again(options, value, database)
    if (!row) return undefined
    const entities = query.hydrate(row)
    this.#found = { database, entities }
    const source = { config: orm.config, manager: () => this.#databases.manager(database) }
    for (const each of entities) Object.assign(helper(each), { source })
    return entities[0]
  }

  /** The entity that the request has found, for a look-up by its primary key. Only MikroORM can merge other rows with it. */
  #again({ model, property, relation }: LookUpOptions, value: Key, database: string): object {
    const isSame = (entity: object) => {
      const { __meta: meta, __originalEntityData: row = {} } = helper(entity)
      const { name } = meta.getPrimaryProp()
      // The application may have changed the entity's property.
      return (
        entity.constructor === model && name === property && String(Reflect.get(row, name)) === String(value)
      )
    }
    const found = this.#found?.database === database && this.#found.entities.find(isSame)
    if (found && relation === undefined) return found
    throw new NotPrepared('the request has already found an entity', { isPassing: true })
  }

  /** Throws `NotPrepared` if an entity manager, RequestContext, transaction, schema, signal or query log is in use. */
  #requirePlain({ em, config }: MikroORM, database: string): void {
    if (this.#databases.hasManager(database))
      throw new NotPrepared('the request has an entity manager', { isPassing: true })
    if (em.getContext(false) !== em) throw new NotPrepared('a `RequestContext` or a transaction is open')
    if (em.schema !== undefined || em.getSessionContext() || Reflect.get(em, 'signal') !== undefined)
      throw new NotPrepared('`orm.em` has a schema, a session context or a signal')
    if (config.getLogger().isEnabled('query', Reflect.get(em, 'loggerContext')))
      throw new NotPrepared('MikroORM logs queries')
  }

  fork(database: string): EntityManager {
    const entities = this.#found?.database === database ? this.#found.entities : []
    // Look-ups use the global manager. A `RequestContext` that was opened after a look-up must not apply to this fork.
    const em = this.#databases.orm(database).em.fork({ disableContextResolution: entities.length > 0 })
    for (const entity of entities) helper(entity).__em = em
    for (const entity of entities) {
      const { prototype, trackingProps, definedProperties } = helper(entity).__meta
      // Keeps the order of the properties. MikroORM would move each relation to the end.
      for (const { name } of trackingProps) Reflect.set(prototype, name, Reflect.get(entity, name), entity)
      Object.defineProperties(entity, definedProperties)
      em.getUnitOfWork().register(entity)
    }
    return em
  }
}
