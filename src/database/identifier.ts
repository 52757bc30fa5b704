import { hash, randomFillSync } from 'node:crypto'

const length = 32
const random = Buffer.alloc(128 * length)
let used = random.length

/**
 * A value that cannot be guessed, for a cookie or a link: 256 random bits in base64url. The bits are generated in bulk, because koa-session
 * needs an identifier for each request without a session.
 */
export function newIdentifier(): string {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  used += length
  return random.toString('base64url', used - length, used)
}

/** The stored form of a random value: its SHA-256 in base64url. A stolen database then contains no usable value. */
export function digestOf(value: string | Uint8Array): string {
  return hash('sha256', value, 'base64url')
}
