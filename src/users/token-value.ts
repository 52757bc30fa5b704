import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const prefix = 'kauth_'
// 32 bytes in base64url, and the four of their CRC-32.
const form = /^kauth_([\w-]{43})([\w-]{6})$/

/** A new token: a prefix that scanners for leaked secrets can find, 256 random bits, a checksum. Shown once. */
export function newTokenValue(): string {
  const bytes = randomBytes(32)
  return prefix + bytes.toString('base64url') + checksum(bytes)
}

/** What is stored for a token: its SHA-256; `undefined` if it is none of ours, so that nobody need be asked. */
export function storedToken(value: string): string | undefined {
  const [, random = '', sum] = form.exec(value) ?? []
  if (sum === undefined || checksum(Buffer.from(random, 'base64url')) !== sum) return undefined
  return hash('sha256', value, 'base64url')
}

function checksum(bytes: Uint8Array): string {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum.toString('base64url')
}
