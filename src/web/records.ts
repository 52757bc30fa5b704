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
