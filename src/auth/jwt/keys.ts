import { SignJWT } from 'jose'
import { Misuse } from '../errors.ts'
import { type ClaimOptions, type ClaimRules, claimRules } from './claims.ts'
import { type JWK, type JWTKey, readKey, readSecret } from './key.ts'
import { JWTKeyError } from './key-strength.ts'
import type { JWTPayload, JWTPayloadClass, JWTVerifier } from './payload.ts'
import { maxLength, readToken } from './read-token.ts'
import { TokenVerifier } from './token-verifier.ts'

/** The keys of an application, and the claims that all its tokens share. The first key signs. */
export interface JWTKeysOptions extends ClaimOptions {
  /** HS256 secrets of 32 bytes or more, as bytes or as UTF-8 text. */
  readonly secrets?: readonly (string | Uint8Array)[]
  /** Keys for EdDSA, ES256 or RS256, as PEM or JWK: private keys to sign, public keys to verify only. */
  readonly keys?: readonly (string | JWK)[]
}

/** Signs tokens with the first key and verifies them with all keys. Throws `JWTKeyError` for weak or unsuitable keys. */
export class JWTKeys implements JWTVerifier {
  readonly #keys: readonly JWTKey[]
  readonly #rules: ClaimRules
  readonly #verifier: TokenVerifier
  readonly #types = new Map<string, JWTPayloadClass>()

  constructor({ secrets = [], keys = [], ...rules }: JWTKeysOptions) {
    this.#rules = claimRules(rules)
    this.#keys = [...secrets.map(readSecret), ...keys.map(readKey)]
    checkKeySet(this.#keys)
    this.#verifier = new TokenVerifier(this.#rules, ({ kid }) =>
      this.#keys
        .filter((key) => kid === undefined || kid === key.kid)
        .map(({ alg, verifying }) => ({ getKey: () => verifying, algorithms: [alg] })),
    )
  }

  /**
   * Signs a payload as a compact token. Throws `Misuse` if the first key cannot sign, the lifetime or the token is too long,
   * or `parse` rejects the claims.
   */
  async sign(payload: JWTPayload): Promise<string> {
    const [key] = this.#keys
    if (!key?.signing) throw new Misuse('The first of the `keys` can only verify: put a private key first.')
    const type = payload.constructor as JWTPayloadClass
    const { name, lifetime, typ } = type
    const { expiration, ...claims } = payload
    const exp = Math.floor(expiration.getTime() / 1000)
    const iat = Math.floor(this.#rules.now() / 1000)
    if (!(exp - iat <= lifetime))
      throw new Misuse(`The expiration of this ${name} must be at most ${lifetime} seconds from now.`)
    const { issuer: iss, audience: aud } = this.#rules
    const token = await new SignJWT(JSON.parse(JSON.stringify({ ...claims, exp, iat, iss, aud })))
      .setProtectedHeader({ alg: key.alg, typ, kid: key.kid })
      .sign(key.signing)
    const read = readToken(token)
    if (read && type.parse(read.claims, expiration) instanceof type) return token
    throw new Misuse(
      `This token would be rejected: \`${name}.parse\` must accept its claims, and it must have at most ${maxLength} characters.`,
    )
  }

  /** The payload of a valid token, else `undefined`. Never throws for a bad token. */
  verify<Payload extends JWTPayload>(token: string, type: JWTPayloadClass<Payload>) {
    return this.#verifier.verify(token, type, type.typ)
  }

  /** For authenticators. Throws `Misuse` if another class has the same `typ` (RFC 8725 §3.12). */
  register(type: JWTPayloadClass): void {
    const { typ, name } = type
    // Case and the prefix `application/` do not matter (RFC 7515 §4.1.9).
    const mediaType = typ.toLowerCase().replace(/^application\//, '')
    const other = this.#types.get(mediaType) ?? type
    if (other !== type)
      throw new Misuse(
        `${name} and ${other.name} share keys and \`typ\`: give one a \`static typ\` of its own.`,
      )
    this.#types.set(mediaType, type)
  }
}

function checkKeySet(keys: readonly JWTKey[]): void {
  const kinds = new Set(keys.map((key) => key.alg === 'HS256'))
  if (keys.length === 0) throw new JWTKeyError('Tokens need a key: list one under `secrets` or `keys`.')
  if (kinds.size > 1) throw new JWTKeyError('Secrets and key pairs cannot be mixed: list one kind only.')
  if (new Set(keys.map((key) => key.kid)).size < keys.length)
    throw new JWTKeyError('The same key is listed twice, or two keys have the same `kid`.')
}
