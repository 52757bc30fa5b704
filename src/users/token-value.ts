import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { digestOf } from '../database/digest.ts'

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
  return digestOf(value)
}
