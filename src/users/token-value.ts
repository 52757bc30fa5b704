import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const prefix = 'kauth_'
// 32 bytes in base64url, and the four of their CRC-32.
const length = prefix.length + 43 + 6

/** A new token: a prefix that scanners for leaked secrets can find, 256 random bits, a checksum. Shown once. */
export function newTokenValue(): string {
  return withChecksum(randomBytes(32).toString('base64url'))
}

/** The random part of a token of ours: all that there is to know of it. */
export function randomPart(value: string): string {
  return value.slice(prefix.length, prefix.length + 43)
}

/** The token with that random part. */
export function withChecksum(random: string): string {
  return prefix + random + checksum(Buffer.from(random, 'base64url'))
}

/**
 * What is stored for a token: its SHA-256; `undefined` if it cannot be one of ours, so that nobody need be asked. The
 * checksum is for whoever finds one: with another it is another token, which nobody has been given.
 */
export function storedToken(value: string): string | undefined {
  if (value.length !== length || !value.startsWith(prefix)) return undefined
  return hash('sha256', value, 'base64url')
}

function checksum(bytes: Uint8Array): string {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum.toString('base64url')
}
