import { type Claims, SessionToken } from '#auth/jwt'

/** Whose token it is, and what it was had for. */
export interface TokenOwner {
  readonly id: string
  readonly passwordChangedAt: Date
}

/** The site's own session token (JWT): it says too which password it was had for, and so ends with that one. */
export class SignedToken extends SessionToken {
  /** When that password was set, in milliseconds; nothing in a token of somebody who knows the specification alone. */
  readonly passwordChangedAt: number | undefined

  constructor(userId: string, passwordChangedAt?: number, expiration?: Date) {
    super(userId, expiration)
    this.passwordChangedAt = passwordChangedAt
  }

  /** The token for somebody whose password has been checked, as they were found then. */
  static of({ id, passwordChangedAt }: TokenOwner): SignedToken {
    return new SignedToken(id, passwordChangedAt.getTime())
  }

  static override parse(claims: Claims, expiration: Date): SignedToken | undefined {
    const { passwordChangedAt } = claims
    const userId = SessionToken.parse(claims, expiration)?.userId
    return userId !== undefined && isTimeOrNothing(passwordChangedAt)
      ? new SignedToken(userId, passwordChangedAt, expiration)
      : undefined
  }

  /** Whether it was had for the password that its user has now. */
  isFor({ passwordChangedAt }: TokenOwner): boolean {
    const changedAt = passwordChangedAt.getTime()
    if (this.passwordChangedAt !== undefined) return this.passwordChangedAt === changedAt
    // It tells the second of its issue only: one from the very second of the change counts as from before it. And one that
    // was given a shorter life counts as older than it is.
    return this.expiration.getTime() - SignedToken.lifetime * 1000 > changedAt
  }
}

function isTimeOrNothing(value: unknown): value is number | undefined {
  return value === undefined || Number.isSafeInteger(value)
}
