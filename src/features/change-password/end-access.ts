import type { EntityManager } from '@mikro-orm/core'
import { UserToken } from '../../users/user-token.ts'
import { Device } from '../known-devices/device.ts'
import { StoredSession } from '../sessions/stored-session.ts'

/**
 * Ends the sessions and tokens of a user, and returns how many there were. An admin has neither. No device is known from
 * then on either: whoever had the old password could have made any number of them, each with guesses of its own.
 */
export async function endAccess(
  em: EntityManager,
  id: string,
): Promise<{ sessions: number; tokens: number }> {
  const sessions = await em.nativeDelete(StoredSession, { user: id }, { filters: false })
  const tokens = await em.nativeDelete(UserToken, { user: id }, { filters: false })
  await em.nativeDelete(Device, { user: id }, { filters: false })
  return { sessions, tokens }
}
