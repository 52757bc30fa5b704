import type { AuthMiddleware } from '../auth.ts'
import type { BearerAuthorization } from '../authorization.ts'
import { BearerAuthenticator } from '../bearer.ts'
import { type Class, requireCall } from '../checks.ts'
import { Misuse } from '../errors.ts'
import type { JsonObject } from '../json-object.ts'
import { isUUID } from '../uuid.ts'

/** The claims of a token (RFC 7519 §4). `parse` of a payload class checks the types of its own claims. */
export type Claims = JsonObject

/** The static side of a payload class. */
export type JWTPayloadClass<Payload extends JWTPayload = JWTPayload> = Class<Payload> & {
  /** The maximum lifetime of a token of this class, in seconds. */
  readonly lifetime: number
  /** The `typ` header of its tokens (RFC 8725 §3.11). */
  readonly typ: string
  /** Checks the claims of the class and creates the payload. Returns `undefined` for invalid claims. */
  parse(claims: Claims, expiration: Date): Payload | undefined
}

/** What an authenticator uses: `JWTKeys` or a `JWTIssuer`. */
export interface JWTVerifier {
  /** Throws `Misuse` if the tokens of another class would be valid for the payload class. */
  register?(type: JWTPayloadClass): void
  /** The payload of a valid token, else `undefined`. Never throws for a bad token. */
  verify<Payload extends JWTPayload>(
    token: string,
    type: JWTPayloadClass<Payload>,
  ): Promise<Payload | undefined>
}

/** The payload of a signed token. A subclass has its claims as fields, and declares `static lifetime` and `static parse`. */
export abstract class JWTPayload {
  /** `JWT` by default. Two classes that share keys need different values. */
  static readonly typ: string = 'JWT'

  /** When the token expires. */
  readonly expiration: Date

  constructor(expiration: Date) {
    this.expiration = expiration
  }

  /** The middleware for a bearer token of this class. Logs in the payload. A guard behind it makes the token mandatory. */
  static authenticator<Payload extends JWTPayload>(
    this: JWTPayloadClass<Payload>,
    keys: JWTVerifier,
  ): AuthMiddleware {
    requireCall(this, 'SessionToken.authenticator')
    return new JWTAuthenticator(this, keys).middleware()
  }
}

/** The payload of a signed token that identifies a user by UUID for at most 15 minutes. */
export class SessionToken extends JWTPayload {
  /** 15 minutes, in seconds. */
  static readonly lifetime = 900

  /** The identifier of the user, a UUID. */
  readonly userId: string

  constructor(userId: string, expiration = new Date(Date.now() + SessionToken.lifetime * 1000)) {
    super(expiration)
    this.userId = userId
  }

  /** Returns `undefined` unless `userId` is a UUID (RFC 9562 §4). */
  static parse({ userId }: Claims, expiration: Date): SessionToken | undefined {
    return isUUID(userId) ? new SessionToken(userId.toLowerCase(), expiration) : undefined
  }
}

/** Verifies a signed bearer token and logs in its payload, without a database query. Ignores an invalid token. */
export class JWTAuthenticator<Payload extends JWTPayload = JWTPayload> extends BearerAuthenticator<Payload> {
  override readonly user: JWTPayloadClass<Payload>
  readonly #keys: JWTVerifier

  constructor(user: JWTPayloadClass<Payload>, keys: JWTVerifier) {
    super()
    if (typeof keys?.verify !== 'function')
      throw new Misuse(`Pass the keys of the tokens: \`${user.name}.authenticator(new JWTKeys(…))\`.`)
    keys.register?.(user)
    this.user = user
    this.#keys = keys
  }

  override authenticate({ token }: BearerAuthorization): Promise<Payload | undefined> {
    return this.#keys.verify(token, this.user)
  }
}
