import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { defineEntity, p } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'
import { ModelTokenAuthenticatable } from '#auth/mikro-orm'
import { clockSkew, day } from '../durations.ts'
import { User } from './user.ts'

/** The default lifetime of a token, in days. */
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
    expiresAt: p.datetime(),
    lastUsedAt: p.datetime().nullable().hidden(),
    createdAt: p
      .datetime()
      .hidden()
      .onCreate(() => new Date()),
  },
})

/** A bearer token of a user. A stolen database contains no token, only a digest and the last characters. */
export class UserToken extends ModelTokenAuthenticatable(UserTokenSchema.class, {
  value: 'value',
  user: 'user',
}) {
  static override stored(token: string): string | undefined {
    return storedToken(token)
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
  return { token, value: hash('sha256', token, 'base64url'), tail: token.slice(-4), expiresAt }
}

const prefix = 'kauth_'
// 32 bytes in base64url, and the four bytes of their CRC-32.
const length = prefix.length + 43 + 6

/** A new token: a prefix for secret scanners, 256 random bits, and a checksum. */
export function newTokenValue(): string {
  return withChecksum(randomBytes(32).toString('base64url'))
}

export function randomPart(value: string): string {
  return value.slice(prefix.length, prefix.length + 43)
}

/** The token with this random part. */
export function withChecksum(random: string): string {
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(Buffer.from(random, 'base64url')))
  return prefix + random + checksum.toString('base64url')
}

/**
 * The stored form of a token: its SHA-256. `undefined` if the prefix or the length is wrong, which saves a query.
 * The checksum is for secret scanners and is not verified, because a changed token has another digest.
 */
export function storedToken(value: string): string | undefined {
  if (value.length !== length || !value.startsWith(prefix)) return undefined
  return hash('sha256', value, 'base64url')
}
