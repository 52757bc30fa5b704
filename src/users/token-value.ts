import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const prefix = 'kauth_'
// 32 bytes in base64url, and the four of their CRC-32. The last character of each has bits to spare, and they are zero:
// other spellings of the same bytes are none of ours.
const form = /^kauth_[\w-]{42}[AEIMQUYcgkosw048][\w-]{5}[AQgw]$/

// For one at a time: nothing waits between writing and reading it.
const decoded = Buffer.alloc(36)
const decodedRandom = decoded.subarray(0, 32)

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

/** What is stored for a token: its SHA-256; `undefined` if it is none of ours, so that nobody need be asked. */
export function storedToken(value: string): string | undefined {
  if (!form.test(value)) return undefined
  decoded.write(value.slice(prefix.length, -6), 0, 'base64url')
  decoded.write(value.slice(-6), 32, 'base64url')
  if (crc32(decodedRandom) !== decoded.readUInt32BE(32)) return undefined
  return hash('sha256', value, 'base64url')
}

function checksum(bytes: Uint8Array): string {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum.toString('base64url')
}
