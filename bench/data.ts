import { hash } from 'node:crypto'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'

/** How many tokens and sessions a database has. */
export interface Amounts {
  readonly tokens: number
  readonly sessions: number
}

export const defaultAmounts: Amounts = { tokens: 100_000, sessions: 10_000 }
export const users = 10_000
/** A number above that of every stored token and session, for credentials that must be rejected. */
export const unknown = 10_000_000
// The default cost of the site.
export const bcryptCost = 12
/** The public URL, as if a proxy terminated TLS. */
export const publicUrl = 'https://bench.example'
/** For servers that sign their cookies. */
export const cookieSecret = 'a public secret, used by the benchmark only'
export const password = 'analytical engine 1843'
/** Databases, keys and lists of header values. Each run starts with an empty folder. */
export const folder = join(import.meta.dirname, 'data')

/** The time at which all passwords were set. The account page shows it. */
export const registered = Date.UTC(2026, 0, 1)

/** The user with this number. */
export function user(number: number) {
  const id = `0190a6e5-7c9b-7${hex(number, 3)}-8000-${hex(number * 7919, 12)}`
  const email = `user${number}@example.com`
  return { id, name: `User ${number}`, email, passwordChangedAt: registered }
}

/** The bearer token with this number, in the site's format. Its user has the same number, modulo the number of users. */
export function token(number: number): string {
  const random = hash('sha256', `token ${number}`, 'buffer')
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(random))
  return `kauth_${random.toString('base64url')}${checksum.toString('base64url')}`
}

/** The identifier of the session with this number. */
export function session(number: number): string {
  return hash('sha256', `session ${number}`, 'base64url')
}

/** At most 100,000 evenly spread numbers below `rows`. */
export function spread(rows: number): number[] {
  const amount = Math.min(rows, 100_000)
  const step = rows / amount
  return Array.from({ length: amount }, (_, place) => {
    const block = Math.floor(place / users) * step + (place % step)
    return block * users + (place % users)
  })
}

/** Formats a number with a fixed number of hexadecimal digits. */
export function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0').slice(-digits)
}
