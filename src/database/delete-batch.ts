import { type EntityClass, type EntityManager, LockMode } from '@mikro-orm/core'
import { isPostgres } from './is-postgres.ts'

/** Expired rows: their condition, and the property that identifies each. */
export interface Expired<Entity> {
  readonly where: object
  readonly key: keyof Entity & string
}

/** Deletes up to `most` rows and returns their number. Skips rows that another process has locked. */
export async function deleteBatch<Entity extends object>(
  em: EntityManager,
  entity: EntityClass<Entity>,
  expired: Expired<Entity>,
  most: number,
): Promise<number> {
  if (!isPostgres(em)) return findAndDelete(em, entity, expired, { limit: most })
  const lockMode = LockMode.PESSIMISTIC_PARTIAL_WRITE
  return em.transactional((em) => findAndDelete(em, entity, expired, { limit: most, lockMode }))
}

async function findAndDelete<Entity extends object>(
  em: EntityManager,
  entity: EntityClass<Entity>,
  { where, key }: Expired<Entity>,
  options: { limit: number; lockMode?: LockMode.PESSIMISTIC_PARTIAL_WRITE },
): Promise<number> {
  // MikroORM's types cannot express the fields of a generic entity.
  const found: object[] = await em.find<object>(entity, where, {
    ...options,
    fields: [key as never],
    filters: false,
  })
  if (found.length === 0) return 0
  const keys = found.map((each) => Reflect.get(each, key))
  return em.nativeDelete<object>(entity, { $and: [where, { [key]: { $in: keys } }] }, { filters: false })
}
