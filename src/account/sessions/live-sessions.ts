import { entityManager } from '#auth/mikro-orm'
import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'
import { deviceName } from '../devices/device-name.ts'
import type { Services } from '../services.ts'
import { currentDigest } from './session-store.ts'
import { isExpired, StoredSession } from './stored-session.ts'

/** The record of a session (docs/http-api.md, "Records"). It omits the identifier in the cookie, which is secret. */
export type SessionRecord = Awaited<ReturnType<typeof liveSessions>>[number]

/** The user's sessions: the current one, then the others by last use. */
export async function liveSessions({ uses }: Services, ctx: SiteContext) {
  const { id: user } = ctx.auth.require(User)
  const found = await entityManager(ctx).find(
    StoredSession,
    { user },
    { orderBy: { id: 'desc' }, populate: ['id', 'userAgent', 'address'] },
  )
  const current = currentDigest(ctx)
  return found
    .map((session) => ({ session, seenAt: uses.sessions.of(session) ?? session.createdAt }))
    .filter(({ session: { kept, createdAt }, seenAt }) => !isExpired({ kept, createdAt, seenAt }))
    .map(({ session: { id, userAgent, address, createdAt, kept, digest, data }, seenAt }) => ({
      id,
      device: deviceName(userAgent),
      address: address ?? null,
      startedAt: createdAt,
      seenAt,
      methods: methodsOf(data),
      kept,
      current: digest === current,
    }))
    .sort(
      (one, other) =>
        Number(other.current) - Number(one.current) || other.seenAt.getTime() - one.seenAt.getTime(),
    )
}

/** How the user of a session has authenticated. The session authenticator records it under this key. */
function methodsOf(data: Record<string, unknown>): string[] {
  const { methods } = (data['user:authenticated'] ?? {}) as { methods?: unknown }
  return Array.isArray(methods) ? methods.filter((each) => typeof each === 'string') : []
}
