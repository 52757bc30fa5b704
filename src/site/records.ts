import type { User } from '../users/user.ts'

/** The public record of a user (docs/http-api.md, "Records"). Without the password hash. */
export function userRecord({ id, name, email }: User) {
  return { id, name, email }
}

/** The record of a token, without its value. */
export interface TokenRecord {
  readonly id: string
  readonly name: string
  /** The last four characters of the value. Tokens of older versions have none. */
  readonly tail: string | null
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
  readonly expiresAt: Date
}

/** The record of a new token. Its value is shown only once. */
export interface NewTokenRecord {
  readonly id: string
  readonly name: string
  readonly value: string
  readonly expiresAt: Date
}

/** The record of a passkey. */
export interface PasskeyRecord {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

/** The record of a session. It omits the identifier in the cookie, which is secret. */
export interface SessionRecord {
  readonly id: string
  readonly device: string
  /** The IP address that signed in. Sessions of older versions have none. */
  readonly address: string | null
  readonly startedAt: Date
  /** Updated at most once a minute. */
  readonly seenAt: Date
  /** How the user authenticated, as values of RFC 8176, such as `pwd`. Empty for a connected account. */
  readonly methods: readonly string[]
  /** Whether the user chose "Keep me signed in on this device". */
  readonly kept: boolean
  /** Whether it is the session of this request. */
  readonly current: boolean
}
