import { defineEntity, p } from '@mikro-orm/core'
import { clockSkew, day, hour } from '../../durations.ts'
import { User } from '../../users/user.ts'

const StoredSessionSchema = defineEntity({
  name: 'StoredSession',
  tableName: 'sessions',
  indexes: [
    { name: 'sessions_seen_at_index', properties: ['kept', 'seenAt'] },
    { name: 'sessions_created_at_index', properties: ['kept', 'createdAt'] },
  ],
  properties: {
    // SHA-256 of the identifier in the cookie, so that a stolen database contains no usable session.
    digest: p.string().length(43).primary(),
    // The public identifier.
    id: p.uuid().unique().lazy(),
    user: () => p.manyToOne(User).deleteRule('cascade').index(),
    userAgent: p.string().length(255).lazy(),
    // The IP address of the request that inserted the row.
    address: p.string().length(45).nullable().lazy(),
    data: p.json<Record<string, unknown>>(),
    // "Keep me signed in on this device".
    kept: p.boolean(),
    createdAt: p.datetime(),
    seenAt: p.datetime(),
  },
})

/** A session of a signed-in user. Visitors have none. */
export class StoredSession extends StoredSessionSchema.class {}

StoredSessionSchema.setClass(StoredSession)

/** The idle and absolute limits in milliseconds, without and with "Keep me signed in" (docs/security-model.md, "Sessions"). */
export const limits = {
  usual: { idle: 2 * hour, absolute: day },
  kept: { idle: 14 * day, absolute: 30 * day },
}

/** Returns whether a session has expired. A session with a time more than two minutes in the future counts as expired. */
export function isExpired(
  { kept, createdAt, seenAt }: Pick<StoredSession, 'kept' | 'createdAt' | 'seenAt'>,
  now = Date.now(),
): boolean {
  const { idle, absolute } = kept ? limits.kept : limits.usual
  const latest = now + clockSkew
  if (createdAt.getTime() > latest || seenAt.getTime() > latest) return true
  return now - seenAt.getTime() >= idle || now - createdAt.getTime() >= absolute
}

/** `isExpired` as conditions on indexed columns. Both limits are longer by `delay` milliseconds. */
export function expiredSessions(now: number, delay: number): object[] {
  const future = new Date(now + clockSkew)
  return [false, true].flatMap((kept) => {
    const { idle, absolute } = kept ? limits.kept : limits.usual
    return [
      { kept, seenAt: { $gt: future } },
      { kept, createdAt: { $gt: future } },
      { kept, seenAt: { $lte: new Date(now - delay - idle) } },
      { kept, createdAt: { $lte: new Date(now - delay - absolute) } },
    ]
  })
}
