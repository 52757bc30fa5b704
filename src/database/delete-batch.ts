import { type EntityClass, type EntityManager, LockMode } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { isPostgres } from './is-postgres.ts'

// An arbitrary key, which must be the same in all versions.
const purgeLock = 4_115_417_190_613

/**
 * Deletes up to `limit` of the rows that meet a condition, and returns the number of deleted rows. A condition compares a property
 * that has an index, after equal ones. `$or` of such conditions is a statement for each of them, because PostgreSQL would read the
 * whole table for the `or` of SQL. On PostgreSQL, skips rows that another transaction has locked, and deletes nothing while another
 * process purges. `key` is the property of the primary key.
 */
export async function deleteBatch<Entity extends object>(
  em: EntityManager,
  entity: EntityClass<Entity>,
  { where, key }: { where: object; key: keyof Entity & string },
  limit: number,
): Promise<number> {
  const conditions: object[] = '$or' in where && Array.isArray(where.$or) ? where.$or : [where]
  const deleteAll = async (em: EntityManager, lock?: RowLock) => {
    let deleted = 0
    for (const each of conditions)
      if (deleted < limit)
        deleted += await findAndDelete(em, entity, { where: each, key, limit: limit - deleted }, lock)
    return deleted
  }
  // SQLite has no row locks, and a transaction would lock the whole database for a read.
  if (!isPostgres(em)) return deleteAll(em)
  return em.transactional(async (em) => {
    const [row] = await (em as SqlEntityManager).execute<{ free: boolean }[]>(
      `select pg_try_advisory_xact_lock(${purgeLock}) as free`,
    )
    return row?.free ? deleteAll(em, { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE }) : 0
  })
}

interface RowLock {
  readonly lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE
}

async function findAndDelete<Entity extends object>(
  em: EntityManager,
  entity: EntityClass<Entity>,
  { where, key, limit }: { where: object; key: keyof Entity & string; limit: number },
  lock: RowLock | undefined,
): Promise<number> {
  // The order makes PostgreSQL use the index, even if its statistics are old.
  const orderBy: object = { [Object.keys(where).at(-1) ?? key]: 'asc' }
  // MikroORM's types cannot express the fields of a generic entity.
  const options = { fields: [key as never], filters: false, orderBy, limit, ...lock }
  const found: object[] = await em.find<object>(entity, where, options)
  if (found.length === 0) return 0
  const keys = found.map((each) => Reflect.get(each, key))
  return em.nativeDelete<object>(entity, { $and: [where, { [key]: { $in: keys } }] }, { filters: false })
}
