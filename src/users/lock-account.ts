import { type EntityClass, type EntityManager, LockMode } from '@mikro-orm/core'
import { User } from './user.ts'

/**
 * Whether there is such an account, which until the end of the transaction nobody else changes or ends: who starts a
 * session in its name, makes a token of it or changes its password does it after the other. The first thing in a
 * transaction, so that no two wait for each other.
 *
 * @param passwordChangedAt when its password was set, if it has to be that one; and then it must not be disabled
 */
export async function holdAccount(
  em: EntityManager,
  { id, passwordChangedAt }: { id: string; passwordChangedAt?: Date | undefined },
  entity: EntityClass<User> = User,
): Promise<boolean> {
  const found = await em.findOne(
    entity,
    { id, ...(passwordChangedAt && { passwordChangedAt }) },
    {
      fields: ['id'],
      lockMode: LockMode.PESSIMISTIC_WRITE,
      disableIdentityMap: true,
      ...(!passwordChangedAt && { filters: false }),
    },
  )
  return found !== null
}
