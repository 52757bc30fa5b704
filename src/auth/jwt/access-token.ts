import { type Claims, JWTPayload } from './payload.ts'

/** The payload of an access token of a `JWTIssuer` (RFC 9068 §2.2). A subclass can check more claims in `parse`. */
export class AccessToken extends JWTPayload {
  /** The issuer decides how long its tokens are valid. */
  static readonly lifetime: number = Number.MAX_VALUE

  /** The user, or the client if it acts for itself. Unique for one issuer only. */
  readonly subject: string

  /** The scopes from the claim `scope` or `scp`. */
  readonly scopes: readonly string[]

  /** All claims. */
  readonly claims: Claims

  constructor(subject: string, scopes: readonly string[], claims: Claims, expiration: Date) {
    super(expiration)
    this.subject = subject
    this.scopes = scopes
    this.claims = claims
  }

  /** Returns `undefined` if the token has no `sub`. */
  static parse(claims: Claims, expiration: Date): AccessToken | undefined {
    const { sub, scope = claims.scp } = claims
    if (typeof sub !== 'string' || sub === '') return undefined
    return new AccessToken(sub, scopesOf(scope), claims, expiration)
  }
}

/** A claim with scopes is text with spaces (RFC 8693 §4.2), or a list. */
function scopesOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter(Boolean)
  return Array.isArray(claim) ? claim.filter((each) => typeof each === 'string') : []
}
