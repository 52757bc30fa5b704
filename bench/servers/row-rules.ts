import { hash } from 'node:crypto'

/** A user as the database has them. */
export interface Person {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly passwordChangedAt: number
}

/** A bearer token, with whose it is. */
export interface TokenRow extends Person {
  readonly tokenID: string
  readonly expiresAt: number
  readonly lastUsedAt: number
}

/** A session, and whose it is. */
export interface SessionRow {
  readonly user: string
  readonly createdAt: number
  readonly seenAt: number
}

const minute = 60_000
const hour = 60 * minute

/** The columns of a `Person`, in the SQL of both databases. */
export const person = 'u.id, u.name, u.email, u.password_changed_at as "passwordChangedAt"'

/** Whether a session counts for nobody any more. */
export function isOver({ createdAt, seenAt }: Omit<SessionRow, 'user'>, now: number): boolean {
  return now - seenAt >= 2 * hour || now - createdAt >= 24 * hour
}

/** Whether it is time to note that something was used: at most once a minute, and nothing else is ever written. */
export function isDue(lastUse: number, now: number): boolean {
  return now - lastUse >= minute
}

/** Identifiers and tokens are stored as their SHA-256. */
export function digest(secret: string): string {
  return hash('sha256', secret, 'base64url')
}
