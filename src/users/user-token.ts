import { defineEntity, p } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'
import { ModelTokenAuthenticatable } from '#auth/mikro-orm'
import { isInFuture } from '../database/future-time.ts'
import { newTokenValue, storedToken } from './token-value.ts'
import { User } from './user.ts'

const day = 24 * 60 * 60 * 1000

/** How many days a token is good unless its owner says otherwise. */
export const usualDays = 30

const UserTokenSchema = defineEntity({
  name: 'UserToken',
  tableName: 'user_tokens',
  indexes: [
    { name: 'user_tokens_user_id_index', properties: ['user', 'id'] },
    { name: 'user_tokens_expires_at_index', properties: ['expiresAt'] },
    { name: 'user_tokens_created_at_index', properties: ['createdAt'] },
  ],
  properties: {
    // A digest of what is sent.
    value: p.string().length(43).primary().hidden(),
    // What its owner calls it by, to revoke it.
    id: p
      .uuid()
      .unique()
      .onCreate(() => uuidv7()),
    // What its owner calls it.
    name: p.string().length(100),
    // Its index is the one above, which orders them too.
    user: () => p.manyToOne(User).deleteRule('cascade').index(false),
    expiresAt: p.datetime(),
    lastUsedAt: p.datetime().nullable().hidden(),
    createdAt: p
      .datetime()
      .hidden()
      .onCreate(() => new Date()),
  },
})

/** A bearer token of a user. The column keeps a digest, so a stolen database opens nothing. */
export class UserToken extends ModelTokenAuthenticatable(UserTokenSchema.class, {
  value: 'value',
  user: 'user',
}) {
  static override stored(token: string): string | undefined {
    return storedToken(token)
  }

  get isValid(): boolean {
    const now = Date.now()
    return this.expiresAt.getTime() > now && !isInFuture(this.createdAt, now)
  }
}

UserTokenSchema.setClass(UserToken)

/** What a new token row is made of, and the token itself, which only its owner ever sees. */
export function issueToken(
  now = Date.now(),
  days = usualDays,
): { token: string; value: string; expiresAt: Date } {
  const token = newTokenValue()
  const value = storedToken(token)
  if (value === undefined) throw new Error('A new token does not pass its own check.')
  return { token, value, expiresAt: new Date(now + days * day) }
}
