import { Misuse } from '../errors.ts'
import { parseJsonObject } from '../json-object.ts'
import { type ClaimRules, type Claims, goodUntil } from './claims.ts'
import { openCompact, signCompact } from './compact.ts'
import { encodeHeader, type Header, mediaType, parseHeader } from './header.ts'
import type { JWK } from './jwk.ts'
import type { JWTKey } from './key.ts'
import { JWTKeyError } from './key-error.ts'
import { type JWTPayload, type JWTPayloadClass, provePayloadClass } from './payload.ts'
import { readKey, readSecret } from './read-key.ts'
import { VerifiedTokens } from './verified-tokens.ts'

/** The keys of an application, newest first, and what its tokens have to say. */
export interface JWTKeysOptions {
  /** Secrets for HS256 of 32 bytes or more: bytes, or text that stands for its UTF-8 bytes. */
  readonly secrets?: readonly (string | Uint8Array)[]
  /** Private keys for EdDSA, ES256 or RS256, in PEM or as JWK; public ones where tokens are only verified. */
  readonly keys?: readonly (string | JWK)[]
  /** Who makes the tokens: their `iss`. */
  readonly issuer: string
  /** Whom they are for: their `aud`. */
  readonly audience: string
  /** How far the clocks of two machines may be apart: 0 seconds by default, 60 at most. */
  readonly leeway?: number
  /** The clock, in milliseconds. */
  readonly now?: () => number
}

/**
 * The keys that sign and verify tokens: the first signs, all verify (HTTP contract, "The layer"). Throws `JWTKeyError` if
 * one is weak or unsuitable, or does not go with the others.
 */
export class JWTKeys {
  readonly #keys: readonly JWTKey[]
  readonly #rules: ClaimRules
  readonly #headers = new Map<string, Header>()
  readonly #verified = new VerifiedTokens()
  readonly #types = new Map<string, JWTPayloadClass>()

  constructor({ secrets = [], keys = [], issuer, audience, leeway = 0, now = Date.now }: JWTKeysOptions) {
    if (!issuer || !audience) throw new Misuse('Tokens need an `issuer` and an `audience`.')
    if (!(Number.isFinite(leeway) && leeway >= 0 && leeway <= 60))
      throw new Misuse('The `leeway` of tokens is 0 to 60 seconds.')
    if (!Array.isArray(secrets) || !Array.isArray(keys))
      throw new JWTKeyError('Give `secrets` and `keys` as lists, even of one.')
    this.#keys = [...secrets.map(readSecret), ...keys.map(readKey)]
    this.#rules = { issuer, audience, leeway, now }
    proveSet(this.#keys, keys)
  }

  /**
   * The token for a payload, in compact form. Throws `Misuse` if the newest key is public, or nobody would take the token:
   * the payload lives too long, is too large, or is none that its class parses.
   */
  sign(payload: JWTPayload): string {
    const [key] = this.#keys
    if (!key?.canSign) throw new Misuse('The first of the `keys` only verifies: put one first that signs.')
    const type = provePayloadClass(payload.constructor)
    const { typ, lifetime, name } = type
    const { expiration, ...claims } = payload
    const exp = Math.floor(expiration.getTime() / 1000)
    const iat = Math.floor(this.#rules.now() / 1000)
    if (!(exp - iat <= lifetime)) throw new Misuse(`This ${name} would outlive its ${lifetime} seconds.`)
    const { issuer: iss, audience: aud } = this.#rules
    const all = { ...claims, exp, iat, iss, aud }
    // As it will be read.
    const read = parseJsonObject(Buffer.from(JSON.stringify(all)))
    if (!(read && type.parse(read, expiration) instanceof type))
      throw new Misuse(`\`${name}.parse\` would make no ${name} of ${JSON.stringify(claims).slice(0, 200)}.`)
    return signCompact(all, typ, key)
  }

  /** What the token says, as an instance of the payload class; `undefined` if it is not good. Never throws for a bad token. */
  verify<Payload extends JWTPayload>(token: string, type: JWTPayloadClass<Payload>): Payload | undefined {
    // Without a dot it is no signed token, and need not be looked for among those that are known.
    if (typeof token !== 'string' || !token.includes('.')) return undefined
    const claims = this.#verified.claims(token, type.typ, () => this.#open(token, type.typ))
    if (!claims) return undefined
    const exp = goodUntil(claims, this.#rules, type.lifetime)
    return exp === undefined ? undefined : type.parse(claims, new Date(exp * 1000))
  }

  /** For authenticators: throws `Misuse` if the tokens of this class could pass for those of another (RFC 8725 §3.12). */
  admit(type: JWTPayloadClass): void {
    const { typ, name } = provePayloadClass(type)
    const other = this.#types.get(mediaType(typ)) ?? type
    if (other !== type) {
      throw new Misuse(
        `${name} and ${other.name} share keys and \`typ\`: give one a \`static typ\` of its own.`,
      )
    }
    this.#types.set(mediaType(typ), type)
    for (const { alg, kid } of this.#keys) {
      this.#headers.set(encodeHeader({ alg, typ, kid }), { alg, typ, kid })
    }
  }

  #open(token: string, type: string): Claims | undefined {
    const bytes = openCompact(token, (header) => this.#keysFor(header, type))
    return bytes && parseJsonObject(bytes)
  }

  #keysFor(encoded: string, type: string): readonly JWTKey[] {
    // The headers that we make ourselves are known, and need no parsing.
    const header = this.#headers.get(encoded) ?? parseHeader(encoded)
    if (!header?.typ || mediaType(header.typ) !== mediaType(type)) return []
    const { alg, kid } = header
    return this.#keys.filter((key) => key.alg === alg && (kid === undefined || kid === key.kid))
  }
}

function proveSet(keys: readonly JWTKey[], sources: readonly (string | JWK)[]): void {
  const kinds = new Set(keys.map((key) => key.alg === 'HS256'))
  // Our `kid` is the thumbprint; a JWK may say another, and two that say the same are a mix-up.
  const named = sources.flatMap((source) => (typeof source === 'string' ? [] : (source.kid ?? [])))
  if (keys.length === 0) throw new JWTKeyError('Tokens need a key: list one under `secrets` or `keys`.')
  if (kinds.size > 1) throw new JWTKeyError('Secrets and key pairs cannot be mixed: list one kind only.')
  if (hasTwice(keys.map((key) => key.kid))) throw new JWTKeyError('The same key is listed twice.')
  if (hasTwice(named)) throw new JWTKeyError('Two of the keys have the same `kid`.')
}

function hasTwice(values: readonly unknown[]): boolean {
  return new Set(values).size < values.length
}
