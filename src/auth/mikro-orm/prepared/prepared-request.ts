import { type EntityManager, helper, type MikroORM } from '@mikro-orm/core'
import type { EntityManagers, Key, LookUpOptions, RequestLookUps } from '../look-ups.ts'
import { NotPrepared } from './not-prepared.ts'
import type { PreparedQuery } from './prepared-query.ts'

/** The prepared queries of the application. */
export interface PreparedQueries {
  /** Whether look-ups of the model may be prepared. */
  isAllowed(model: LookUpOptions['model']): boolean
  /** The query of a look-up. Rejects with `NotPrepared` if `em.findOne` must be used. */
  query(orm: MikroORM, options: LookUpOptions): Promise<PreparedQuery>
  /** Calls `findOne` after an error of a query. */
  recover<Found>(model: LookUpOptions['model'], error: unknown, findOne: () => Promise<Found>): Promise<Found>
}

/** The look-ups of one request, and the entities that they found without an entity manager. */
export class PreparedRequest implements RequestLookUps {
  readonly #queries: PreparedQueries
  readonly #managers: EntityManagers
  #loaded: Map<string, readonly object[]> | undefined

  constructor(queries: PreparedQueries, managers: EntityManagers) {
    this.#queries = queries
    this.#managers = managers
  }

  async find(
    options: LookUpOptions,
    value: Key,
    database: string,
    findOne: () => Promise<object | undefined>,
  ): Promise<object | undefined> {
    if (!this.#queries.isAllowed(options.model)) return findOne()
    try {
      return await this.#find(options, value, database)
    } catch (error) {
      return this.#queries.recover(options.model, error, findOne)
    }
  }

  async #find(options: LookUpOptions, value: Key, database: string): Promise<object | undefined> {
    const orm = this.#managers.orm(database)
    this.#requirePlain(orm, database)
    const loaded = this.#loadedByKey(options, value, database)
    if (loaded) return loaded
    const query = await this.#queries.query(orm, options)
    if (typeof value !== query.keyType)
      throw new NotPrepared(`a value is not a ${query.keyType}`, { isPassing: true })
    const row = await query.find(value)
    this.#requirePlain(orm, database)
    const hydrated = row ? query.hydrate(row) : []
    // Only MikroORM can merge a row with an entity that this request has loaded before.
    if (hydrated.some((each) => this.#loadedWith(each.constructor, keyInRow(each), database)))
      throw new NotPrepared('the request has already loaded the row', { isPassing: true })
    this.#add(hydrated, database)
    return hydrated[0]
  }

  /** Throws `NotPrepared` if an entity manager, RequestContext, transaction, schema, signal or query log is in use. */
  #requirePlain({ em, config }: MikroORM, database: string): void {
    if (this.#managers.hasManager(database))
      throw new NotPrepared('the request has an entity manager', { isPassing: true })
    if (em.getContext(false) !== em) throw new NotPrepared('a `RequestContext` or a transaction is open')
    if (em.schema !== undefined || em.getSessionContext() || Reflect.get(em, 'signal') !== undefined)
      throw new NotPrepared('`orm.em` has a schema, a session context or a signal')
    if (config.getLogger().isEnabled('query', Reflect.get(em, 'loggerContext')))
      throw new NotPrepared('MikroORM logs queries')
  }

  /** The entity of a look-up by primary key, if this request has loaded it. */
  #loadedByKey(
    { model, property, relation }: LookUpOptions,
    value: Key,
    database: string,
  ): object | undefined {
    if (!this.#loaded || relation !== undefined) return undefined
    const found = this.#loadedWith(model, String(value), database)
    return found && helper(found).__meta.getPrimaryProp().name === property ? found : undefined
  }

  #loadedWith(model: unknown, key: string, database: string): object | undefined {
    return this.#loaded?.get(database)?.find((each) => each.constructor === model && keyInRow(each) === key)
  }

  #add(entities: object[], database: string): void {
    this.#loaded ??= new Map()
    this.#loaded.set(database, [...(this.#loaded.get(database) ?? []), ...entities])
    const source = {
      config: this.#managers.orm(database).config,
      manager: () => this.#managers.manager(database),
    }
    for (const each of entities) Object.assign(helper(each), { source })
  }

  fork(database: string): EntityManager {
    const loaded = this.#loaded?.get(database) ?? []
    // Look-ups use the global manager. A `RequestContext` that was opened after a look-up must not apply to this fork.
    const disableContextResolution = this.#loaded?.has(database) ?? false
    const em = this.#managers.orm(database).em.fork({ disableContextResolution })
    for (const entity of loaded) helper(entity).__em = em
    for (const entity of loaded) {
      const { prototype, trackingProps, definedProperties } = helper(entity).__meta
      // Keeps the order of the properties. MikroORM would move each relation to the end.
      for (const { name } of trackingProps) Reflect.set(prototype, name, Reflect.get(entity, name), entity)
      Object.defineProperties(entity, definedProperties)
      em.getUnitOfWork().register(entity)
    }
    return em
  }
}

/** The primary key in the row of an entity, as text. The application may have changed the entity's property since. */
function keyInRow(entity: object): string {
  const { __meta: meta, __originalEntityData: row = {} } = helper(entity)
  return String(Reflect.get(row, meta.getPrimaryProp().name))
}
