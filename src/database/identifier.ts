import { hash, randomBytes } from 'node:crypto'

/** A value that cannot be guessed, for a cookie or a link: 256 random bits in base64url. */
export function newIdentifier(): string {
  return randomBytes(32).toString('base64url')
}

/** The stored form of a random value: its SHA-256 in base64url. A stolen database then contains no usable value. */
export function digestOf(value: string | Uint8Array): string {
  return hash('sha256', value, 'base64url')
}
