import { type AuthMiddleware, BearerAuthenticator } from '#auth'
import { type Claims, type JWTKeys, SessionToken } from '#auth/jwt'
import { KeyLookUp } from '#auth/mikro-orm'
import { User } from './user.ts'

/**
 * The site's session token (JWT). A claim has the time of the last password change, so that `signedTokenUser` rejects tokens of
 * earlier passwords.
 */
export class SignedToken extends SessionToken {
  /** When the password was set, in milliseconds. A token that another program has signed may lack it. */
  readonly passwordChangedAt: number | undefined

  constructor(userId: string, passwordChangedAt?: number, expiration?: Date) {
    super(userId, expiration)
    this.passwordChangedAt = passwordChangedAt
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

/** Accepts a signed token in place of its user. Rejects tokens of disabled and deleted users and of earlier passwords. */
export function signedTokenUser(keys: JWTKeys): AuthMiddleware {
  const users = new KeyLookUp(User)
  return BearerAuthenticator.from(User, async (value, ctx) => {
    const token = await keys.verify(value, SignedToken)
    const user = token && (await users.find(ctx, token.userId))
    return user && token.isFor(user) ? user : undefined
  })
}

function isOptionalTime(value: unknown): value is number | undefined {
  return value === undefined || Number.isSafeInteger(value)
}
