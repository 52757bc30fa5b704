import type { MikroORM } from '@mikro-orm/core'
import { LastUses } from '#auth/mikro-orm'
import { type Logger, loggable } from '../log/log.ts'
import { UserToken } from '../users/user-token.ts'
import { StoredSession } from './sessions/stored-session.ts'

/** When sessions and tokens were last used. Whoever stops the site closes both. */
export interface SiteUses {
  readonly sessions: LastUses<StoredSession>
  readonly tokens: LastUses<UserToken>
}

/** That it cannot be written down harms nobody: the log warns of it. */
export function siteUses(orm: MikroORM, log: Logger): SiteUses {
  const onError = (error: unknown) => log.warn(loggable(error), 'last uses cannot be written down')
  return {
    sessions: new LastUses(orm, StoredSession, 'seenAt', { onError }),
    tokens: new LastUses(orm, UserToken, 'lastUsedAt', { onError }),
  }
}
