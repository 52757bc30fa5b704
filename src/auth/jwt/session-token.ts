import { isUUID } from '../uuid.ts'
import type { Claims } from './claims.ts'
import { JWTPayload } from './payload.ts'

/** A signed session token (specification, "SessionToken (JWT payload)"): good for 15 minutes. It names a user by UUID. */
export class SessionToken extends JWTPayload {
  static readonly lifetime = 900

  /** The identifier of the user, a UUID. */
  readonly userId: string

  constructor(userId: string, expiration = new Date(Date.now() + SessionToken.lifetime * 1000)) {
    super(expiration)
    this.userId = userId
  }

  static parse({ userId }: Claims, expiration: Date): SessionToken | undefined {
    return isUUID(userId) ? new SessionToken(userId.toLowerCase(), expiration) : undefined
  }
}
