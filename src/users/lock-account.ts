import { type EntityClass, type EntityManager, LockMode } from '@mikro-orm/core'
import { User } from './user.ts'

/**
 * Locks an account row until the transaction ends, and returns whether it exists. Lock it first, to avoid deadlocks.
 * @param passwordChangedAt if given, the row must also have this value and be enabled
 */
export async function lockAccount(
  em: EntityManager,
  { id, passwordChangedAt }: { id: string; passwordChangedAt?: Date | undefined },
  entity: EntityClass<User> = User,
): Promise<boolean> {
  const found = await em.findOne(entity, passwordChangedAt ? { id, passwordChangedAt } : { id }, {
    fields: ['id'],
    lockMode: LockMode.PESSIMISTIC_WRITE,
    disableIdentityMap: true,
    ...(!passwordChangedAt && { filters: false }),
  })
  return found !== null
}
