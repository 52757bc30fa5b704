import type { EntityManager } from '@mikro-orm/core'
import { UserToken } from '../users/user-token.ts'
import { StoredSession } from '../web/stored-session.ts'

/** Ends the sessions and tokens of a user. An admin has neither. */
export async function endAccess(em: EntityManager, id: string): Promise<void> {
  await em.nativeDelete(StoredSession, { user: id }, { filters: false })
  await em.nativeDelete(UserToken, { user: id }, { filters: false })
}
