import { type ClaimOptions, type ClaimRules, claimRules } from './claims.ts'
import { issuerKeys } from './issuer-keys.ts'
import type { JWTPayload, JWTPayloadClass, JWTVerifier } from './payload.ts'
import { TokenVerifier } from './token-verifier.ts'

/** An OAuth or OpenID Connect provider. */
export interface JWTIssuerOptions extends ClaimOptions {
  /** The `iss` of the tokens, exactly as the provider writes it. A slash at the end matters. */
  readonly issuer: string
  /** The `typ` header of the access tokens: `at+jwt` by default (RFC 9068). Auth0, Keycloak and Entra write `JWT`. */
  readonly typ?: string
  /** The address of the keys. By default, OpenID Connect Discovery finds it. */
  readonly jwksURL?: string
  /** How long loading the keys may take, in milliseconds: 5,000 by default. */
  readonly timeLimit?: number
}

/** Verifies the access tokens of an OAuth or OpenID Connect provider. Loads its keys when the first token arrives. */
export class JWTIssuer implements JWTVerifier {
  readonly #rules: ClaimRules
  readonly #typ: string
  readonly #getKey: ReturnType<typeof issuerKeys>
  #verifier: TokenVerifier | undefined

  /** Throws `Misuse` if an option is missing or unsuitable, such as an address without TLS. */
  constructor({ typ = 'at+jwt', jwksURL, timeLimit = 5000, ...rules }: JWTIssuerOptions) {
    this.#rules = claimRules(rules)
    this.#typ = typ
    this.#getKey = issuerKeys(this.#rules.issuer, jwksURL, timeLimit, () => {
      this.#verifier = undefined
    })
  }

  /** The payload of a valid token, else `undefined`. Throws if the keys are needed and cannot be loaded. */
  verify<Payload extends JWTPayload>(token: string, type: JWTPayloadClass<Payload>) {
    // A key that the issuer has removed must stop working, also for tokens that it has verified.
    if (!this.#getKey.fresh) this.#verifier = undefined
    this.#verifier ??= new TokenVerifier(this.#rules, () => [{ getKey: this.#getKey }])
    return this.#verifier.verify(token, type, this.#typ)
  }
}
