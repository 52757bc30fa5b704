import { hash } from 'node:crypto'
import { join } from 'node:path'
import { withChecksum } from '../src/users/token-value.ts'

/** How many rows there are of each kind. */
export interface Amounts {
  readonly users: number
  readonly tokens: number
  readonly sessions: number
}

export const usual: Amounts = { users: 10_000, tokens: 100_000, sessions: 10_000 }
/** The number of a token and a session that are nobody's. */
export const nobody = 10_000_000
// As the site ships.
export const bcryptCost = 12
/** Where visitors would reach the servers: behind a proxy that ends TLS, as in production. */
export const publicUrl = 'https://bench.example'
/** For the servers that sign their cookies. */
export const cookieSecret = 'a secret of the benchmark, which guards nothing at all'
export const password = 'analytical engine 1843'
export const folder = join(import.meta.dirname, 'data')

/** When everybody's password was set, which the account page says. */
export const registered = Date.UTC(2026, 0, 1)

/** The user of that number, as every server answers. */
export function user(number: number) {
  const id = `0190a6e5-7c9b-7${hex(number, 3)}-8000-${hex(number * 7919, 12)}`
  const email = `user${number}@example.com`
  return { id, name: `User ${number}`, email, passwordChangedAt: registered }
}

/** The bearer token of that number; its user is the one of that number, modulo how many there are. */
export function token(number: number): string {
  return withChecksum(hash('sha256', `token ${number}`, 'base64url'))
}

/** The identifier of the session of that number. */
export function session(number: number): string {
  return hash('sha256', `session ${number}`, 'base64url')
}

/** The number in so many hexadecimal digits. */
export function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0').slice(-digits)
}
