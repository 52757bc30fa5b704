import { hash } from 'node:crypto'

/** The stored form of a random value: its SHA-256 in base64url. A stolen database then contains no usable value. */
export function digestOf(value: string | Uint8Array): string {
  return hash('sha256', value, 'base64url')
}
