import type { AuthContext, AuthMiddleware } from '../auth.ts'
import type { BearerAuthorization } from '../authorization.ts'
import { BearerAuthenticator } from '../bearer.ts'
import type { Class } from '../class.ts'
import { Misuse } from '../errors.ts'
import { isUUID } from '../uuid.ts'
import type { Claims } from './claims.ts'

/** What a payload class declares beside its fields. */
export type JWTPayloadClass<Payload extends JWTPayload = JWTPayload> = Class<Payload> & {
  /** The maximum lifetime of a token of this class, in seconds. */
  readonly lifetime: number
  /** The `typ` header of its tokens (RFC 8725 §3.11). */
  readonly typ: string
  /** Checks the class's own claims, all of them unknown, and makes the payload. Returns `undefined` if they are wrong. */
  parse(claims: Claims, expiration: Date): Payload | undefined
}

/** What an authenticator needs to verify tokens: `JWTKeys`. */
export interface JWTVerifier {
  /** Registers a payload class. Throws `Misuse` if its tokens could pass for those of another class. */
  register(type: JWTPayloadClass): void
  /** The payload of a valid token, else `undefined`. Never throws for a bad token. */
  verify<Payload extends JWTPayload>(token: string, type: JWTPayloadClass<Payload>): Payload | undefined
}

/**
 * The payload of a signed token (specification, "Signed token (JWT)"). A subclass has its own claims as fields, and
 * declares `static lifetime` and `static parse`.
 */
export abstract class JWTPayload {
  /** `JWT` by default. Two classes with the same keys need different ones. */
  static readonly typ: string = 'JWT'

  /** When the token expires. */
  readonly expiration: Date

  constructor(expiration: Date) {
    this.expiration = expiration
  }

  /** The middleware for a bearer token of this class. Logs in the payload; a guard behind it makes the token mandatory. */
  static authenticator<Payload extends JWTPayload>(
    this: JWTPayloadClass<Payload>,
    keys: JWTVerifier,
  ): AuthMiddleware {
    return new JWTAuthenticator(this, keys).middleware()
  }
}

/** A signed session token (specification, "SessionToken (JWT payload)"): 15 minutes for a user with a UUID. */
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

/**
 * Verifies a signed token in the bearer header and logs in its payload (specification, "JWTAuthenticator"). An invalid
 * token is no match, so the next authenticator is tried. Makes no database query.
 */
export class JWTAuthenticator<Payload extends JWTPayload = JWTPayload> extends BearerAuthenticator<Payload> {
  override readonly user: JWTPayloadClass<Payload>
  readonly #keys: JWTVerifier

  constructor(user: JWTPayloadClass<Payload>, keys: JWTVerifier) {
    super()
    if (typeof keys?.register !== 'function')
      throw new Misuse(`Pass the keys of the tokens: \`${user.name}.authenticator(new JWTKeys(…))\`.`)
    keys.register(user)
    this.user = user
    this.#keys = keys
  }

  override authenticate({ token }: BearerAuthorization, ctx: AuthContext): void {
    const payload = this.#keys.verify(token, this.user)
    if (payload) ctx.auth.login(payload, this.user)
  }
}

/** The checks of the compiler, for plain JavaScript. Throws `Misuse` if a static member is missing. */
export function checkPayloadClass(type: { readonly name: string }): JWTPayloadClass {
  const { lifetime = 0, parse } = type as Partial<JWTPayloadClass>
  if (!(lifetime > 0 && lifetime < Number.POSITIVE_INFINITY)) {
    throw new Misuse(`${type.name} lacks \`static lifetime\`, the longest life of its tokens in seconds.`)
  }
  if (typeof parse !== 'function') {
    throw new Misuse(`${type.name} lacks \`static parse\`, which checks its claims.`)
  }
  // Both members were just checked.
  return type as JWTPayloadClass
}
