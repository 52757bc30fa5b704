import { type EntityClass, type EntityManager, LockMode } from '@mikro-orm/core'
import { User } from './user.ts'

/** An account and the state in which its credentials were checked. `lockAccount` returns `false` if the state has changed. */
export interface CheckedAccount {
  readonly id: string
  readonly passwordChangedAt?: Date | undefined
  /** `null` if the account has no second factor. Not checked if it or `passwordChangedAt` is `undefined`. */
  readonly secondFactorAt?: Date | null | undefined
}

/**
 * Locks an account row until the transaction ends, and returns whether it exists. Lock it before other rows, to avoid deadlocks.
 * @param account with `passwordChangedAt`, the result is also `false` for a disabled or changed account
 */
export async function lockAccount(
  em: EntityManager,
  { id, passwordChangedAt, secondFactorAt }: CheckedAccount,
  entity: EntityClass<User> = User,
): Promise<boolean> {
  const found = await em.findOne(
    entity,
    passwordChangedAt
      ? { id, passwordChangedAt, ...(secondFactorAt !== undefined && { secondFactorAt }) }
      : { id },
    {
      fields: ['id'],
      lockMode: LockMode.PESSIMISTIC_WRITE,
      disableIdentityMap: true,
      ...(!passwordChangedAt && { filters: false }),
    },
  )
  return found !== null
}
