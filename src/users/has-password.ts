import type { EntityManager } from '@mikro-orm/core'
import { noPassword } from './password.ts'
import { User } from './user.ts'

/** Whether an account has a password. An account that was created with an identity provider has none at first. */
export async function hasPassword(em: EntityManager, id: string): Promise<boolean> {
  return (await em.count(User, { id, passwordHash: { $ne: noPassword } }, { filters: false })) === 1
}
