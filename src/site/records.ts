import type { User } from '../users/user.ts'

/** What is told of a user (HTTP contract, "Records"): never the hash, whatever columns come later. */
export interface UserRecord {
  readonly id: string
  readonly name: string
  readonly email: string
}

/** The record of a user. */
export function userRecord({ id, name, email }: User): UserRecord {
  return { id, name, email }
}

/** What is told of a token: never its value. */
export interface TokenRecord {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
  readonly expiresAt: Date
}

/** What is told of a new one, this once. */
export interface NewTokenRecord {
  readonly id: string
  readonly name: string
  readonly value: string
  readonly expiresAt: Date
}

/** What is told of a session: never what opens it. */
export interface SessionRecord {
  readonly id: string
  /** The browser and the system, in words. */
  readonly device: string
  readonly startedAt: Date
  /** To the minute. */
  readonly seenAt: Date
  /** Whether it was to be kept on this device. */
  readonly kept: boolean
  /** Whether it is the one of this request. */
  readonly current: boolean
}
