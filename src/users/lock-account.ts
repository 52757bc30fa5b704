import { type EntityClass, type EntityManager, LockMode } from '@mikro-orm/core'
import { User } from './user.ts'

/** An account, with the state in which its credentials were checked. */
export interface CheckedAccount {
  readonly id: string
  readonly passwordChangedAt?: Date | undefined
  readonly secondFactorAt?: Date | null | undefined
}

/**
 * Locks an account row until the transaction ends, and returns whether it exists. Lock it first, to avoid deadlocks.
 * @param account if it has `passwordChangedAt`, the row must be enabled, with the same password and second factor
 */
export async function lockAccount(
  em: EntityManager,
  { id, passwordChangedAt, secondFactorAt = null }: CheckedAccount,
  entity: EntityClass<User> = User,
): Promise<boolean> {
  const found = await em.findOne(
    entity,
    passwordChangedAt ? { id, passwordChangedAt, secondFactorAt } : { id },
    {
      fields: ['id'],
      lockMode: LockMode.PESSIMISTIC_WRITE,
      disableIdentityMap: true,
      ...(!passwordChangedAt && { filters: false }),
    },
  )
  return found !== null
}
