import { Misuse } from '../errors.ts'
import { parseJsonObject } from '../json-object.ts'
import { type ClaimRules, validUntil } from './claims.ts'
import { mediaType, openCompact, parseHeader, signCompact } from './compact.ts'
import { type JWTKey, JWTKeyError } from './key.ts'
import { checkPayloadClass, type JWTPayload, type JWTPayloadClass, type JWTVerifier } from './payload.ts'
import { type JWK, readKey, readSecret } from './read-key.ts'
import { VerifiedTokens } from './verified-tokens.ts'

/** The keys of an application, and the claims that all its tokens share. The first key signs. */
export interface JWTKeysOptions {
  /** HS256 secrets of 32 bytes or more, as bytes or as UTF-8 text. */
  readonly secrets?: readonly (string | Uint8Array)[]
  /** Keys for EdDSA, ES256 or RS256, as PEM or JWK: private keys to sign, public keys to verify only. */
  readonly keys?: readonly (string | JWK)[]
  /** The issuer of the tokens: their `iss`. */
  readonly issuer: string
  /** The recipient of the tokens: their `aud`. */
  readonly audience: string
  /** The tolerated clock difference between two machines, in seconds: 0 by default, 60 at most. */
  readonly leeway?: number
  /** Returns the time in milliseconds. */
  readonly now?: () => number
}

/** Signs tokens with the first key and verifies them with all keys. Throws `JWTKeyError` for weak or unsuitable keys. */
export class JWTKeys implements JWTVerifier {
  readonly #keys: readonly JWTKey[]
  readonly #rules: ClaimRules
  readonly #verified = new VerifiedTokens()
  readonly #types = new Map<string, JWTPayloadClass>()

  constructor({ secrets = [], keys = [], issuer, audience, leeway = 0, now = Date.now }: JWTKeysOptions) {
    if (!issuer || !audience) throw new Misuse('Tokens need an `issuer` and an `audience`.')
    if (!(Number.isFinite(leeway) && leeway >= 0 && leeway <= 60))
      throw new Misuse('The `leeway` of tokens is 0 to 60 seconds.')
    if (!Array.isArray(secrets) || !Array.isArray(keys))
      throw new JWTKeyError('Pass `secrets` and `keys` as lists, even for a single key.')
    this.#keys = [...secrets.map(readSecret), ...keys.map(readKey)]
    this.#rules = { issuer, audience, leeway, now }
    checkKeySet(this.#keys, keys)
  }

  /**
   * Signs a payload as a compact token. Throws `Misuse` if the first key cannot sign, the lifetime or the token is too long,
   * or `parse` rejects the claims.
   */
  sign(payload: JWTPayload): string {
    const [key] = this.#keys
    if (!key?.canSign) throw new Misuse('The first of the `keys` can only verify: put a private key first.')
    const type = checkPayloadClass(payload.constructor)
    const { typ, lifetime, name } = type
    const { expiration, ...claims } = payload
    const exp = Math.floor(expiration.getTime() / 1000)
    const iat = Math.floor(this.#rules.now() / 1000)
    if (!(exp - iat <= lifetime))
      throw new Misuse(`The expiration of this ${name} must be at most ${lifetime} seconds from now.`)
    const { issuer: iss, audience: aud } = this.#rules
    const all = { ...claims, exp, iat, iss, aud }
    // The claims as a recipient parses them.
    const read = parseJsonObject(Buffer.from(JSON.stringify(all)))
    if (!(read && type.parse(read, expiration) instanceof type))
      throw new Misuse(
        `\`${name}.parse\` does not return a ${name} for ${JSON.stringify(claims).slice(0, 200)}.`,
      )
    return signCompact(all, typ, key)
  }

  /** The payload of a valid token, else `undefined`. Never throws for a bad token. */
  verify<Payload extends JWTPayload>(token: string, type: JWTPayloadClass<Payload>): Payload | undefined {
    // A token without a dot is opaque. The cache need not compute its digest.
    if (typeof token !== 'string' || !token.includes('.')) return undefined
    const claims = this.#verified.claims(token, type.typ, () => {
      const bytes = openCompact(token, (header) => this.#keysFor(header, type.typ))
      return bytes && parseJsonObject(bytes)
    })
    if (!claims) return undefined
    const exp = validUntil(claims, this.#rules, type.lifetime)
    return exp === undefined ? undefined : type.parse(claims, new Date(exp * 1000))
  }

  /** For authenticators. Throws `Misuse` if another class has the same `typ` (RFC 8725 §3.12). */
  register(type: JWTPayloadClass): void {
    const { typ, name } = checkPayloadClass(type)
    const other = this.#types.get(mediaType(typ)) ?? type
    if (other !== type) {
      throw new Misuse(
        `${name} and ${other.name} share keys and \`typ\`: give one a \`static typ\` of its own.`,
      )
    }
    this.#types.set(mediaType(typ), type)
  }

  #keysFor(encoded: string, type: string): readonly JWTKey[] {
    const header = parseHeader(encoded)
    if (!header?.typ || mediaType(header.typ) !== mediaType(type)) return []
    const { alg, kid } = header
    return this.#keys.filter((key) => key.alg === alg && (kid === undefined || kid === key.kid))
  }
}

function checkKeySet(keys: readonly JWTKey[], sources: readonly (string | JWK)[]): void {
  const kinds = new Set(keys.map((key) => key.alg === 'HS256'))
  // `JWTKey` uses the thumbprint as `kid`. A JWK may contain another `kid`, which must be unique too.
  const kids = sources.flatMap((source) => (typeof source === 'string' ? [] : (source.kid ?? [])))
  if (keys.length === 0) throw new JWTKeyError('Tokens need a key: list one under `secrets` or `keys`.')
  if (kinds.size > 1) throw new JWTKeyError('Secrets and key pairs cannot be mixed: list one kind only.')
  if (hasDuplicates(keys.map((key) => key.kid))) throw new JWTKeyError('The same key is listed twice.')
  if (hasDuplicates(kids)) throw new JWTKeyError('Two of the keys have the same `kid`.')
}

function hasDuplicates(values: readonly unknown[]): boolean {
  return new Set(values).size < values.length
}
