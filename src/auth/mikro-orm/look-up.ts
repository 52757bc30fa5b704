import { DriverException, type MikroORM } from '@mikro-orm/core'
import { Misuse } from '../errors.ts'
import { Batch } from './batch.ts'
import { databasesOf, entityManager, keyInRow, type RequestDatabases } from './databases.ts'
import { type FindOneQuery, recordQuery } from './find-one-query.ts'
import { type Connection, type Key, type Load, prepareStatement } from './prepared-statement.ts'
import type { LookUpOptions } from './query-builder.ts'

interface Prepared {
  readonly query: FindOneQuery
  readonly batch: Batch
}

/** Finds entities with a prepared statement, in batches. Falls back to `em.findOne` if the results may differ. */
export class LookUp<Model extends object> {
  readonly #options: LookUpOptions<Model>
  readonly #prepared = new WeakMap<MikroORM, Promise<Prepared | undefined>>()

  constructor(options: LookUpOptions<Model>) {
    this.#options = options
  }

  /** Returns the entity, or `undefined`. `database` is a name in `databases()`. Rejects if the database cannot be queried. */
  async find(ctx: object, value: Key, database?: string): Promise<Model | undefined> {
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new Misuse('Look up a string or a number, because MikroORM reads an object as a query.')
    // PostgreSQL rejects a string with a NUL.
    if (typeof value === 'string' && value.includes('\0')) return undefined
    const databases = databasesOf(ctx)
    try {
      const found = await this.#findPrepared(databases, value, database)
      if (found !== undefined) return found ?? undefined
    } catch (error) {
      if (error instanceof DriverException) throw error
      // The fallback to `em.findOne` succeeds, or throws MikroORM's own error.
    }
    return this.#findOne(ctx, value, database)
  }

  /** Returns `null` if there is no such entity, and `undefined` if `em.findOne` must be used. */
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
    const hydrated = row ? prepared.query.hydrate(row) : []
    // Only MikroORM can merge a row with an entity that this request has loaded before.
    if (hydrated.some((each) => databases.loaded(each.constructor, keyInRow(each), name))) return undefined
    databases.addLoaded(hydrated, name)
    return (hydrated[0] ?? null) as Model | null
  }

  #prepare(orm: MikroORM): Promise<Prepared | undefined> {
    const known = this.#prepared.get(orm)
    if (known) return known
    const preparing = prepare(orm, this.#options)
    this.#prepared.set(orm, preparing)
    preparing.catch(() => this.#prepared.delete(orm))
    return preparing
  }

  async #findOne(ctx: object, value: Key, database?: string): Promise<Model | undefined> {
    const { model, property, relation } = this.#options
    // With `$and`, MikroORM queries the database even for the primary key of an entity that it manages.
    const where = { $and: [{ [property]: value }] }
    const populate = (relation === undefined ? [] : [relation]) as never
    const em = entityManager(ctx, database)
    return ((await em.findOne<object>(model, where, { populate, cache: false })) as Model | null) ?? undefined
  }
}

async function prepare(orm: MikroORM, options: LookUpOptions): Promise<Prepared | undefined> {
  const query = await recordQuery(orm, options)
  if (!query) return undefined
  const statements = new WeakMap<Connection, Promise<Load>>()
  const batch = new Batch(async (keys) => {
    if (!(await query.isCurrent())) throw new Error('The recorded query may be outdated.')
    const connection = query.connection()
    const statement = statements.get(connection) ?? prepareStatement(connection, query.sql)
    statements.set(connection, statement)
    try {
      return await (await statement)(keys)
    } catch (error) {
      // The connection may have been reopened. A malformed key (SQLSTATE class 22) does not invalidate the statement.
      if (!/^22/.test(String(Reflect.get(Object(error), 'code')))) statements.delete(connection)
      throw error
    }
  })
  return { query, batch }
}

/** Whether no RequestContext, transaction, schema, abort signal, session context or query log is in use. */
function isPlainRequest({ em, config }: MikroORM): boolean {
  return (
    em.getContext(false) === em &&
    em.schema === undefined &&
    Reflect.get(em, 'signal') === undefined &&
    em.getSessionContext() === undefined &&
    !config.getLogger().isEnabled('query', Reflect.get(em, 'loggerContext'))
  )
}
