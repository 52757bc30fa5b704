import { hash } from 'node:crypto'

export interface Person {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly passwordChangedAt: number
}

export interface TokenRow extends Person {
  readonly tokenID: string
  readonly expiresAt: number
  readonly lastUsedAt: number
}

export interface SessionRow extends Person {
  readonly createdAt: number
  readonly seenAt: number
}

const minute = 60_000
const hour = 60 * minute

/** The columns of a `Person`, in the SQL of both databases. */
export const person = 'u.id, u.name, u.email, u.password_changed_at as "passwordChangedAt"'

export function isExpired(
  { createdAt, seenAt }: Pick<SessionRow, 'createdAt' | 'seenAt'>,
  now: number,
): boolean {
  return now - seenAt >= 2 * hour || now - createdAt >= 24 * hour
}

/** Whether the time of the last use must be written: at most once a minute. */
export function isDue(lastUse: number, now: number): boolean {
  return now - lastUse >= minute
}

/** The SHA-256 of a session identifier or a token. The database stores only this digest. */
export function digest(secret: string): string {
  return hash('sha256', secret, 'base64url')
}
