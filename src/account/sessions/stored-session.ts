import { defineEntity, p } from '@mikro-orm/core'
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
