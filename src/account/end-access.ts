import type { EntityManager } from '@mikro-orm/core'
import { resetAttempts } from '../throttle/throttle.ts'
import type { AccountClass } from '../users/admin.ts'
import { changeCredentials } from '../users/change-credentials.ts'
import { OneTimeToken } from '../users/one-time-tokens.ts'
import { UserToken } from '../users/user-token.ts'
import { Device } from './devices/devices.ts'
import { accountKey } from './limits.ts'
import type { Notice } from './notify.ts'
import { StoredSession } from './sessions/stored-session.ts'

export const passwordChanged: Notice = {
  subject: 'Your password was changed',
  text: 'The password of your account was changed. All API tokens have ended, and all sessions except the one that changed the password.',
}

/**
 * Replaces the password, calls `endAccess`, and resets the account's rate limits for passwords. Call it in the transaction that has
 * locked the account.
 */
export async function overwritePassword(
  em: EntityManager,
  { kind, entity, id, email }: { kind: 'user' | 'admin'; entity: AccountClass; id: string; email: string },
  passwordHash: string,
): Promise<void> {
  // Read the time after the lock, because waiting for it may take seconds. `signedTokenUser` rejects tokens from before this time.
  await changeCredentials(em, id, { passwordHash, passwordChangedAt: new Date() }, entity)
  await endAccess(em, id)
  await resetAttempts(em, accountKey({ kind, username: email }))
}

/**
 * Deletes the sessions and tokens of a user or of several users, and returns their numbers. Deletes one-time links and known devices too. An
 * attacker with the old password could have added devices, each with its own rate limit.
 */
export async function endAccess(
  em: EntityManager,
  id: string | string[],
): Promise<{ sessions: number; tokens: number }> {
  const sessions = await em.nativeDelete(StoredSession, { user: id }, { filters: false })
  const tokens = await em.nativeDelete(UserToken, { user: id }, { filters: false })
  await em.nativeDelete(OneTimeToken, { user: id })
  await em.nativeDelete(Device, { user: id }, { filters: false })
  return { sessions, tokens }
}
