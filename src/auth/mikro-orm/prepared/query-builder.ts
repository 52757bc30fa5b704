import { type EntityMetadata, type MikroORM, raw } from '@mikro-orm/core'
import type { Key, LookUpOptions } from '../look-ups.ts'
import { NotPrepared } from './not-prepared.ts'

/** A relation that a query loads. */
export interface PopulateHint {
  readonly field: string
  readonly children?: readonly PopulateHint[]
}

/** The part of MikroORM's query builder that a look-up uses. */
export interface QueryBuilder {
  readonly state: { readonly populate: readonly PopulateHint[] }
  getAliasForJoinPath(path: string, options: object): string
  execute(...args: unknown[]): Promise<object[]>
  toQuery(): { sql: string; params: readonly unknown[] }
}

/** The part of MikroORM's SQL driver that a look-up uses. */
interface Driver {
  createQueryBuilder(...args: unknown[]): QueryBuilder
  joinedProps(meta: EntityMetadata, populate: readonly PopulateHint[]): readonly PopulateHint[]
  mapResult(row: object, meta: EntityMetadata): Record<string, unknown>
  getSchemaName(meta: EntityMetadata): string | undefined
}

/** The driver of an ORM. MikroORM's type lacks these methods, but every SQL driver has them. */
export function driverOf(orm: MikroORM): Driver {
  return orm.driver as unknown as Driver
}

/**
 * Records the query builder of `em.findOne` without a query to the database. Throws `NotPrepared` unless `em.findOne` builds
 * exactly one query, which contains the key once and joins only the relation.
 */
export async function recordFindOne(
  orm: MikroORM,
  { model, property, relation }: LookUpOptions,
  key: Key,
): Promise<QueryBuilder> {
  const recorded: QueryBuilder[] = []
  const driver = driverOf(orm)
  const recorder: Driver = Object.create(driver)
  recorder.createQueryBuilder = (...args) => {
    const qb = driver.createQueryBuilder(...args)
    qb.execute = async () => {
      recorded.push(qb)
      return []
    }
    return qb
  }
  const em = orm.em.fork()
  Reflect.set(em, 'driver', recorder)
  const relations = relation === undefined ? [] : [relation]
  await em.findOne<object>(model, { [property]: key }, { populate: relations as never })
  const [qb, ...others] = recorded
  const joined = qb && driver.joinedProps(orm.getMetadata().get<object>(model), qb.state.populate)
  const isExpected =
    others.length === 0 &&
    String(joined?.map(({ field }) => field)) === String(relations) &&
    qb?.state.populate.every(({ children = [] }) => children.length === 0) &&
    qb.toQuery().params.filter((param) => param === key).length === 1
  if (qb && isExpected) return qb
  throw new NotPrepared(`MikroORM does not find ${model.name} by one query that joins only \`${relation}\``)
}

// Names the table of keys on PostgreSQL, and the column with the position of a key. The query must not use this name.
export const keyTable = 'koa_authenticators_key'

/** The place of the key in a query: a column of the table of keys. */
export const keyColumn = `${keyTable}.v`

/** MikroORM's SQL with `keyColumn` instead of the key. */
export function sqlOf(orm: MikroORM, qb: QueryBuilder, key: Key): string {
  const { sql, params } = qb.toQuery()
  const values = params.map((param) => (param === key ? raw(keyColumn) : param))
  return orm.em.getPlatform().formatQuery(sql, values)
}
