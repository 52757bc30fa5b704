import type { AuthMiddleware } from '../auth.ts'
import type { Class } from '../class.ts'
import { Misuse } from '../errors.ts'
import { JWTAuthenticator } from './authenticator.ts'
import type { Claims } from './claims.ts'
import type { JWTKeys } from './keys.ts'

/** What a payload class declares beside its fields. */
export type JWTPayloadClass<Payload extends JWTPayload = JWTPayload> = Class<Payload> & {
  /** The longest that a token of this class may live, in seconds. */
  readonly lifetime: number
  /** The `typ` header of its tokens (RFC 8725 §3.11). */
  readonly typ: string
  /** Proves the claims of its own, all of them unknown, and makes the payload; `undefined` if they are wrong. */
  parse(claims: Claims, expiration: Date): Payload | undefined
}

/**
 * What a signed token says (specification, "Signed token (JWT)"). A subclass has the claims of its own as fields, and
 * declares `static lifetime` and `static parse`.
 */
export abstract class JWTPayload {
  /** `JWT`, unless a subclass says otherwise; two classes with the same keys need two of them. */
  static readonly typ: string = 'JWT'

  /** From when on the token is no longer good. */
  readonly expiration: Date

  constructor(expiration: Date) {
    this.expiration = expiration
  }

  /** The middleware for a bearer token of this class; it logs in the payload. A guard behind it makes it mandatory. */
  static authenticator<Payload extends JWTPayload>(
    this: JWTPayloadClass<Payload>,
    keys: JWTKeys,
  ): AuthMiddleware {
    return new JWTAuthenticator(this, keys).middleware()
  }
}

/** Plain JavaScript's share of what the compiler tells TypeScript: throws `Misuse` if the class lacks something. */
export function provePayloadClass(type: { readonly name: string }): JWTPayloadClass {
  const { lifetime = 0, parse } = type as Partial<JWTPayloadClass>
  if (!(lifetime > 0 && lifetime < Number.POSITIVE_INFINITY)) {
    throw new Misuse(`${type.name} lacks \`static lifetime\`, the longest life of its tokens in seconds.`)
  }
  if (typeof parse !== 'function') {
    throw new Misuse(`${type.name} lacks \`static parse\`, which proves the claims of its own.`)
  }
  // Both members that its type did not promise have just been proven.
  return type as JWTPayloadClass
}
