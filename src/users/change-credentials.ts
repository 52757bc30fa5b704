import { type EntityManager, raw } from '@mikro-orm/core'
import type { AccountClass } from './admin.ts'
import { User } from './user.ts'

type Credentials = Pick<
  User,
  'email' | 'emailKey' | 'emailVerifiedAt' | 'passwordHash' | 'passwordChangedAt' | 'secondFactorAt'
>

/**
 * Changes the address, the password or the second factor of an account, and increments `credentialsVersion`. So a request that has
 * seen the earlier version starts no session and issues no token. Call it with the account locked.
 */
export async function changeCredentials(
  em: EntityManager,
  id: string,
  change: Partial<Credentials>,
  entity: AccountClass = User,
): Promise<void> {
  const credentialsVersion = raw('credentials_version + 1')
  await em.nativeUpdate(entity, { id }, { ...change, credentialsVersion }, { filters: false })
}
