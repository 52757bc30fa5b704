import { DriverException, helper, type MikroORM } from '@mikro-orm/core'
import { Misuse } from '../errors.ts'
import { Batch } from './batch.ts'
import { databasesOf, entityManager, type RequestDatabases } from './databases.ts'
import { FindOneQuery } from './find-one-query.ts'
import { type Connection, type Key, type Load, prepareStatement } from './prepared-statement.ts'
import type { Sought } from './query-builder.ts'

interface Prepared {
  readonly query: FindOneQuery
  readonly batch: Batch
}

/**
 * Finds the entity that `em.findOne` finds, by a prepared statement and in batches of one event-loop turn. Uses `em.findOne` itself
 * for each model, configuration and request where the two could differ.
 */
export class LookUp<Model extends object> {
  readonly #sought: Sought<Model>
  readonly #prepared = new WeakMap<MikroORM, Promise<Prepared | undefined>>()

  constructor(sought: Sought<Model>) {
    this.#sought = sought
  }

  /**
   * The entity, or `undefined`. Rejects if the database cannot be queried.
   *
   * @param database the name under which `databases()` mounted it, if not the default one
   */
  async find(ctx: object, value: Key, database?: string): Promise<Model | undefined> {
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new Misuse('Look up a string or a number: MikroORM takes an object for a query.')
    // Many databases end a string at a NUL.
    if (typeof value === 'string' && value.includes('\0')) return undefined
    const databases = databasesOf(ctx)
    try {
      const found = await this.#findPrepared(databases, value, database)
      if (found !== undefined) return found ?? undefined
    } catch (error) {
      if (error instanceof DriverException) throw error
      // `em.findOne` succeeds, or throws the error that MikroORM makes of this one.
    }
    return this.#findOne(ctx, value, database)
  }

  /** `null` if there is no such entity; `undefined` if `em.findOne` has to be used. */
  async #findPrepared(
    databases: RequestDatabases,
    value: Key,
    name?: string,
  ): Promise<Model | null | undefined> {
    const orm = databases.orm(name)
    const isAllowed = () => !databases.hasManager(name) && isPlainRequest(orm)
    if (!isAllowed()) return undefined
    const prepared = await this.#prepare(orm)
    if (!prepared || typeof value !== prepared.query.keyType) return undefined
    const row = await prepared.batch.get(value)
    if (!isAllowed()) return undefined
    if (!row) return null
    const hydrated = prepared.query.hydrate(row)
    // A row that this request has loaded before is merged by MikroORM.
    if (hydrated.some((entity) => databases.findLoaded((loaded) => isSameRow(entity, loaded), name)))
      return undefined
    databases.addLoaded(hydrated, name)
    // The hydrator set the prototype of the sought model.
    return (hydrated[0] ?? null) as Model | null
  }

  #prepare(orm: MikroORM): Promise<Prepared | undefined> {
    const known = this.#prepared.get(orm)
    if (known) return known
    const preparing = prepare(orm, this.#sought)
    this.#prepared.set(orm, preparing)
    preparing.catch(() => this.#prepared.delete(orm))
    return preparing
  }

  async #findOne(ctx: object, value: Key, database?: string): Promise<Model | undefined> {
    const { model, property, relation } = this.#sought
    const where = { [property]: value }
    const populate = (relation === undefined ? [] : [relation]) as never
    const hadManager = databasesOf(ctx).hasManager(database)
    const em = entityManager(ctx, database)
    // `em.findOne` by primary key returns a managed entity even if a filter excludes its row.
    if (hadManager && (await em.count<object>(model, where)) === 0) return undefined
    return ((await em.findOne<object>(model, where, { populate })) as Model | null) ?? undefined
  }
}

async function prepare(orm: MikroORM, sought: Sought): Promise<Prepared | undefined> {
  const query = await FindOneQuery.record(orm, sought)
  if (!query) return undefined
  const statements = new WeakMap<Connection, Promise<Load>>()
  const batch = new Batch(async (keys) => {
    if (!(await query.isCurrent())) throw new Error('An option, a schema, a hook or a filter has changed.')
    const { connection } = query
    const statement =
      statements.get(connection) ?? prepareStatement(connection, (placeholder) => query.sql(placeholder))
    statements.set(connection, statement)
    try {
      return await (await statement)(keys)
    } catch (error) {
      // The connection may have been opened anew. A key of the wrong type (SQLSTATE class 22) says nothing about it.
      if (!/^22/.test(String(Reflect.get(Object(error), 'code')))) statements.delete(connection)
      throw error
    }
  })
  return { query, batch }
}

/** Whether no RequestContext, transaction, schema, abort signal, session of the database or query log is involved. */
function isPlainRequest({ em, config }: MikroORM): boolean {
  return (
    em.getContext(false) === em &&
    em.schema === undefined &&
    Reflect.get(em, 'signal') === undefined &&
    em.getSessionContext() === undefined &&
    !config.getLogger().isEnabled('query')
  )
}

function isSameRow(one: object, other: object): boolean {
  return (
    one.constructor === other.constructor &&
    helper(one).getSerializedPrimaryKey() === helper(other).getSerializedPrimaryKey()
  )
}
