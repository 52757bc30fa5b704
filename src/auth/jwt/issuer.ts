import { Misuse } from '../errors.ts'
import { type ClaimOptions, type ClaimRules, claimRules } from './claims.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { keySource } from './key-source.ts'
import {
  checkPayloadClass,
  type JWTPayload,
  type JWTPayloadClass,
  type JWTVerifier,
  parseClaims,
} from './payload.ts'
import { readHeader, verifyToken } from './verify-token.ts'

/** An OAuth or OpenID Connect provider. */
export interface JWTIssuerOptions extends ClaimOptions {
  /** The `iss` of the tokens, exactly as the provider writes it. A slash at the end matters. */
  readonly issuer: string
  /** The `typ` header of the access tokens: `at+jwt` by default (RFC 9068). Auth0, Keycloak and Entra write `JWT`. */
  readonly typ?: string
  /** The address of the keys. By default, OpenID Connect Discovery finds it. */
  readonly jwksURL?: string
  /** How long loading the keys may take, in milliseconds: 5,000 by default, 30,000 at most. */
  readonly timeLimit?: number
  /** Called if loading the keys has failed while the last keys can still be used. */
  readonly onError?: (error: unknown) => void
}

// With a symmetric algorithm, every recipient could sign tokens.
const algorithms = /^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/

/** Verifies the access tokens of an OAuth or OpenID Connect provider. Loads its keys when the first token arrives. */
export class JWTIssuer implements JWTVerifier {
  readonly #rules: ClaimRules
  readonly #typ: string
  readonly #keys: IssuerKeys

  /** Throws `Misuse` if an option is missing or unsuitable, such as an address without TLS. */
  constructor({
    typ = 'at+jwt',
    jwksURL,
    timeLimit = 5000,
    onError = () => undefined,
    ...rules
  }: JWTIssuerOptions) {
    this.#rules = claimRules(rules)
    this.#typ = typ
    if (!(timeLimit > 0 && timeLimit <= 30_000))
      throw new Misuse('The `timeLimit` of an issuer is 1 to 30,000 milliseconds.')
    const load = keySource(this.#rules.issuer, jwksURL, timeLimit)
    this.#keys = new IssuerKeys({ load, now: this.#rules.now, onError })
  }

  /** The payload of a valid token, else `undefined`. Throws if the keys are needed and cannot be loaded. */
  async verify<Payload extends JWTPayload>(
    token: string,
    type: JWTPayloadClass<Payload>,
  ): Promise<Payload | undefined> {
    const header = readHeader(token)
    if (!header || !algorithms.test(header.alg)) return undefined
    const { keys, verified } = await this.#keys.forKid(header.kid)
    const claims = await verified.claims(token, this.#typ, () =>
      verifyToken(token, header, this.#typ, keys, this.#rules),
    )
    return claims && parseClaims(claims, this.#rules, type)
  }

  /** For authenticators. Throws `Misuse` if the payload class lacks `parse`. */
  register(type: JWTPayloadClass): void {
    checkPayloadClass(type, Number.POSITIVE_INFINITY)
  }
}
