import { type EntityClass, type EntityManager, LockMode } from '@mikro-orm/core'
import { isPostgres } from './is-postgres.ts'

/**
 * Deletes up to `limit` of the rows that meet a condition, and returns the number of deleted rows. On PostgreSQL, skips
 * rows that another transaction has locked. `key` is the property of the primary key.
 */
export async function deleteBatch<Entity extends object>(
  em: EntityManager,
  entity: EntityClass<Entity>,
  { where, key }: { where: object; key: keyof Entity & string },
  limit: number,
): Promise<number> {
  const findAndDelete = async (
    em: EntityManager,
    lock?: { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE },
  ) => {
    // MikroORM's types cannot express the fields of a generic entity.
    const options = { fields: [key as never], filters: false, limit, ...lock }
    const found: object[] = await em.find<object>(entity, where, options)
    if (found.length === 0) return 0
    const keys = found.map((each) => Reflect.get(each, key))
    return em.nativeDelete<object>(entity, { $and: [where, { [key]: { $in: keys } }] }, { filters: false })
  }
  // SQLite has no row locks, and a transaction would lock the whole database for a read.
  if (!isPostgres(em)) return findAndDelete(em)
  return em.transactional((em) => findAndDelete(em, { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE }))
}
