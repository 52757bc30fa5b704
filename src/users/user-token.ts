import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { defineEntity, p } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'
import { ModelTokenAuthenticatable } from '#auth/mikro-orm'
import { digestOf } from '../database/identifier.ts'
import { clockSkew, day } from '../durations.ts'
import { User } from './user.ts'

/** The default lifetime of a token, in days. */
export const usualDays = 30

const UserTokenSchema = defineEntity({
  name: 'UserToken',
  tableName: 'user_tokens',
  indexes: [{ name: 'user_tokens_user_id_index', properties: ['user', 'id'] }],
  properties: {
    // A digest of the token.
    value: p.string().length(43).primary().hidden(),
    // Identifies the token to its user, for example to revoke it.
    id: p
      .uuid()
      .unique()
      .onCreate(() => uuidv7()),
    name: p.string().length(100),
    // The last characters of the token, so that its user recognises it.
    tail: p.string().length(4).nullable().hidden(),
    // Covered by the index above.
    user: () => p.manyToOne(User).deleteRule('cascade').index(false),
    expiresAt: p.datetime().index(),
    lastUsedAt: p.datetime().nullable().hidden(),
    createdAt: p
      .datetime()
      .index()
      .hidden()
      .onCreate(() => new Date()),
  },
})

/** A bearer token of a user. A stolen database contains no token, only a digest and the last characters. */
export class UserToken extends ModelTokenAuthenticatable(UserTokenSchema.class, {
  value: 'value',
  user: 'user',
}) {
  /**
   * The stored form of a token: its SHA-256. `undefined` for a text of another form, which saves a query.
   * The checksum is for secret scanners and is not verified, because a changed token has another digest.
   */
  static override stored(token: string): string | undefined {
    return tokenForm.test(token) ? digestOf(token) : undefined
  }

  get isValid(): boolean {
    const now = Date.now()
    return this.expiresAt.getTime() > now && this.createdAt.getTime() <= now + clockSkew
  }
}

UserTokenSchema.setClass(UserToken)

/** A new token, with the digest, the last characters and the expiry for its row. */
export function issueToken(now = Date.now(), days = usualDays) {
  const token = newTokenValue()
  const expiresAt = new Date(now + days * day)
  return { token, value: digestOf(token), tail: token.slice(-4), expiresAt }
}

/** The form of a token: a prefix for secret scanners, 32 bytes in base64url, and the four bytes of their CRC-32. */
export const tokenForm = /^kauth_[\w-]{49}$/

/** A new token with 256 random bits. */
export function newTokenValue(): string {
  const random = randomBytes(32)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(random))
  return `kauth_${random.toString('base64url')}${checksum.toString('base64url')}`
}
