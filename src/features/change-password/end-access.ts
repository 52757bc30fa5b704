import type { EntityManager } from '@mikro-orm/core'
import { OneTimeToken } from '../../users/one-time-token.ts'
import { UserToken } from '../../users/user-token.ts'
import { Device } from '../known-devices/device.ts'
import { StoredSession } from '../sessions/stored-session.ts'

/**
 * Deletes the sessions and tokens of a user, and returns their numbers. Deletes one-time links and known devices too. An
 * attacker with the old password could have added devices, each with its own rate limit.
 */
export async function endAccess(
  em: EntityManager,
  id: string,
): Promise<{ sessions: number; tokens: number }> {
  const sessions = await em.nativeDelete(StoredSession, { user: id }, { filters: false })
  const tokens = await em.nativeDelete(UserToken, { user: id }, { filters: false })
  await em.nativeDelete(OneTimeToken, { user: id })
  await em.nativeDelete(Device, { user: id }, { filters: false })
  return { sessions, tokens }
}
