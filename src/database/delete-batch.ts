import { type EntityClass, type EntityManager, LockMode } from '@mikro-orm/core'
import { isPostgres } from './is-postgres.ts'

/** What is over: a condition of MikroORM's, and by which property its rows are found again. */
export interface Over<Entity> {
  readonly where: object
  readonly key: keyof Entity & string
}

/**
 * Deletes at most so many rows, and returns how many there were. Rows that somebody else has locked are left for the next
 * time, so that of two that delete neither waits for the other.
 */
export async function deleteBatch<Entity extends object>(
  em: EntityManager,
  entity: EntityClass<Entity>,
  over: Over<Entity>,
  most: number,
): Promise<number> {
  if (!isPostgres(em)) return findAndDelete(em, entity, over, { limit: most })
  const lockMode = LockMode.PESSIMISTIC_PARTIAL_WRITE
  return em.transactional((em) => findAndDelete(em, entity, over, { limit: most, lockMode }))
}

async function findAndDelete<Entity extends object>(
  em: EntityManager,
  entity: EntityClass<Entity>,
  { where, key }: Over<Entity>,
  options: { limit: number; lockMode?: LockMode.PESSIMISTIC_PARTIAL_WRITE },
): Promise<number> {
  // MikroORM's types follow neither a condition nor a key of any entity.
  const found: object[] = await em.find<object>(entity, where, {
    ...options,
    fields: [key as never],
    filters: false,
  })
  if (found.length === 0) return 0
  const same = { [key]: { $in: found.map((each) => Reflect.get(each, key)) } }
  return em.nativeDelete<object>(entity, { $and: [where, same] }, { filters: false })
}
