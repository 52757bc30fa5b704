import { type AuthContext, RequestAuthenticator } from '#auth'
import { type Claims, SessionToken } from '#auth/jwt'
import { KeyLookUp } from '#auth/mikro-orm'
import { User } from './user.ts'

/**
 * The site's session token (JWT). A claim has the time of the last password change, so that `SignedTokenUser` rejects tokens of
 * earlier passwords.
 */
export class SignedToken extends SessionToken {
  /** When the password was set, in milliseconds. A token that another program has signed may lack it. */
  readonly passwordChangedAt: number | undefined

  constructor(userId: string, passwordChangedAt?: number, expiration?: Date) {
    super(userId, expiration)
    this.passwordChangedAt = passwordChangedAt
  }

  /** A new token for a user whose password has been verified. */
  static of({ id, passwordChangedAt }: User): SignedToken {
    return new SignedToken(id, passwordChangedAt.getTime())
  }

  static override parse(claims: Claims, expiration: Date): SignedToken | undefined {
    const { passwordChangedAt } = claims
    const userId = SessionToken.parse(claims, expiration)?.userId
    return userId !== undefined && isOptionalTime(passwordChangedAt)
      ? new SignedToken(userId, passwordChangedAt, expiration)
      : undefined
  }

  /** Returns whether the token was issued for the user's current password. */
  isFor({ passwordChangedAt }: User): boolean {
    const changedAt = passwordChangedAt.getTime()
    if (this.passwordChangedAt !== undefined) return this.passwordChangedAt === changedAt
    // Derives the time of issue, in whole seconds. A token that was issued in the same second as the change counts as older.
    return this.expiration.getTime() - SignedToken.lifetime * 1000 > changedAt
  }
}

/** Loads the user of a verified token. Rejects tokens of disabled and deleted users and of earlier passwords. */
export class SignedTokenUser extends RequestAuthenticator<User> {
  readonly user = User
  readonly #users = new KeyLookUp(User)

  override async attempt(ctx: AuthContext): Promise<void> {
    const token = ctx.auth.peek(SignedToken)
    const user = token && (await this.#users.find(ctx, token.userId))
    if (user && token.isFor(user)) ctx.auth.login(user)
  }
}

function isOptionalTime(value: unknown): value is number | undefined {
  return value === undefined || Number.isSafeInteger(value)
}
