import type { KeyObject } from 'node:crypto'
import { jwtVerify } from 'jose'
import { parseJsonObject } from '../json-object.ts'
import type { ClaimRules, Claims } from './claims.ts'

// The checks that jose leaves out, so that each token has one spelling and nothing in it chooses a key or an algorithm.

export const maxLength = 8192

// Unsupported extensions (RFC 7515 §4.1.11, RFC 7797), compression, and keys chosen by the sender (RFC 8725 §3.10).
const refusedMembers = ['crit', 'b64', 'zip', 'jwk', 'jku', 'x5c', 'x5u']

/** The header members that choose the key (RFC 7515 §4.1). */
export interface Header {
  readonly alg: string
  readonly kid?: string | undefined
}

/** A secret or public key, with the only `alg` and `kid` of its tokens. `undefined` fits every `alg`. */
export interface VerifyingKey {
  readonly alg?: unknown
  readonly kid: unknown
  readonly verifying: KeyObject
}

/**
 * The header of a compact JWS (RFC 7515 §7.1). Returns `undefined` if the token is too long, does not have three parts, or has a
 * malformed header or a forbidden header member.
 */
export function readHeader(token: string): Header | undefined {
  if (typeof token !== 'string' || token.length > maxLength) return undefined
  const [encoded = '', ...others] = token.split('.', 4)
  // An encrypted token has five parts and is rejected without decoding.
  if (others.length !== 2) return undefined
  const bytes = decodeBase64url(encoded)
  const header = bytes && parseJsonObject(bytes)
  if (!header || refusedMembers.some((name) => Object.hasOwn(header, name))) return undefined
  const { alg, kid } = header
  if (typeof alg !== 'string') return undefined
  return kid === undefined || typeof kid === 'string' ? { alg, kid } : undefined
}

/**
 * The claims of a token with that `typ` that one of the keys has signed and that is valid now, else `undefined`. Without `kid`, tries
 * all keys of its `alg`.
 */
export async function verifyToken(
  token: string,
  { alg, kid }: Header,
  typ: string,
  keys: readonly VerifyingKey[],
  { issuer, audience, leeway, now }: ClaimRules,
): Promise<Claims | undefined> {
  const [, payload, signature] = token.split('.').map(decodeBase64url)
  const claims = signature && payload && parseJsonObject(payload)
  if (!claims || !hasTextOnly(claims.aud)) return undefined
  // jose requires `exp`, and `iat` because of the age. The payload class limits the lifetime.
  const dates = { requiredClaims: ['exp'], maxTokenAge: Number.MAX_VALUE, currentDate: new Date(now()) }
  const options = { algorithms: [alg], typ, issuer, audience, clockTolerance: leeway, ...dates }
  for (const key of keys) {
    const { alg: onlyAlg = alg } = key
    if (onlyAlg !== alg || (kid ?? key.kid) !== key.kid) continue
    // jose also throws if the key does not fit the algorithm.
    const isValid = await jwtVerify(token, key.verifying, options).then(
      () => true,
      () => false,
    )
    if (isValid) return claims
  }
  return undefined
}

function hasTextOnly(audience: unknown): boolean {
  return [audience].flat().every((each) => typeof each === 'string')
}

/** Decodes strict base64url (RFC 7515 §2, RFC 4648 §3.5), so that each token has one spelling; else `undefined`. */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // Node decodes leniently.
  return bytes.toString('base64url') === text ? bytes : undefined
}
