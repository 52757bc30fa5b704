import type { MikroORM } from '@mikro-orm/core'
import { LastUses } from '#auth/mikro-orm'
import { type Logger, loggable } from '../log/log.ts'
import { UserToken } from '../users/user-token.ts'
import { StoredSession } from './sessions/stored-session.ts'

export type SiteUses = ReturnType<typeof siteUses>

/**
 * Creates the recorders of the last use of each session and token. They log the first of several failed writes. Close them when the
 * site stops.
 */
export function siteUses(orm: MikroORM, log: Logger) {
  const onError = (error: unknown) => log.warn(loggable(error), 'last uses cannot be saved')
  return {
    sessions: new LastUses(orm, StoredSession, 'seenAt', { onError }),
    tokens: new LastUses(orm, UserToken, 'lastUsedAt', { onError }),
  }
}
