import { type EntityClass, type EntityManager, LockMode } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { isPostgres } from './is-postgres.ts'

// An arbitrary key, which must be the same in all versions.
const purgeLock = 4_115_417_190_613

/**
 * Deletes up to `limit` of the rows that meet one of the conditions, and returns the number of deleted rows. A condition compares a
 * property that has an index, after equal ones. Each condition has a statement of its own, because PostgreSQL would read the whole
 * table for the `or` of SQL. On PostgreSQL, skips rows that another transaction has locked, and deletes nothing while another process
 * purges.
 */
export async function deleteBatch(
  em: EntityManager,
  entity: EntityClass<object>,
  conditions: readonly object[],
  limit: number,
): Promise<number> {
  // SQLite has no row locks, and a transaction would lock the whole database for a read.
  if (!isPostgres(em)) return findAndDelete(em, entity, conditions, limit)
  return em.transactional(async (em) => {
    const [row] = await (em as SqlEntityManager).execute<{ free: boolean }[]>(
      `select pg_try_advisory_xact_lock(${purgeLock}) as free`,
    )
    return row?.free ? findAndDelete(em, entity, conditions, limit) : 0
  })
}

async function findAndDelete(
  em: EntityManager,
  entity: EntityClass<object>,
  conditions: readonly object[],
  limit: number,
): Promise<number> {
  const [key = ''] = em.getMetadata().get(entity).primaryKeys
  const lock = isPostgres(em) && ({ lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE } as const)
  let deleted = 0
  for (const where of conditions) {
    // Users share the key of a network, so a statement may delete more rows than it has found.
    if (deleted >= limit) break
    // The order makes PostgreSQL use the index, even if its statistics are old.
    const orderBy: object = { [Object.keys(where).at(-1) ?? key]: 'asc' }
    // MikroORM's types cannot express the fields of any entity.
    const options = { fields: [key as never], filters: false, orderBy, limit: limit - deleted, ...lock }
    const found: object[] = await em.find(entity, where, options)
    if (found.length === 0) continue
    const keys = found.map((each) => Reflect.get(each, key))
    const condition = { $and: [where, { [key]: { $in: keys } }] }
    deleted += await em.nativeDelete(entity, condition, { filters: false })
  }
  return deleted
}
