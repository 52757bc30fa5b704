import type { KeyObject } from 'node:crypto'
import { CompactSign, compactVerify } from 'jose'
import { Misuse } from '../errors.ts'
import { type JsonObject, parseJsonObject } from '../json-object.ts'

// The checks that jose leaves out, so that each token has one spelling and nothing in it chooses a key or an algorithm.

const maxLength = 8192

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
 * malformed header, a forbidden header member or another `typ`.
 */
export function readHeader(token: string, type: string): Header | undefined {
  if (typeof token !== 'string' || token.length > maxLength) return undefined
  const [encoded = '', ...others] = token.split('.', 4)
  // An encrypted token has five parts and is rejected without decoding.
  if (others.length !== 2) return undefined
  const bytes = decodeBase64url(encoded)
  const header = bytes && parseJsonObject(bytes)
  if (!header || refusedMembers.some((name) => Object.hasOwn(header, name))) return undefined
  const { alg, typ, kid } = header
  if (typeof alg !== 'string' || typeof typ !== 'string' || mediaType(typ) !== mediaType(type))
    return undefined
  return kid === undefined || typeof kid === 'string' ? { alg, kid } : undefined
}

/** The claims of a token that one of the keys has signed, else `undefined`. Without `kid`, tries all keys of its `alg`. */
export async function verifyClaims(
  token: string,
  { alg, kid }: Header,
  keys: readonly VerifyingKey[],
): Promise<JsonObject | undefined> {
  const [, payload, signature] = token.split('.').map(decodeBase64url)
  if (!payload || !signature) return undefined
  for (const key of keys) {
    const { alg: onlyAlg = alg } = key
    if (onlyAlg !== alg || (kid ?? key.kid) !== key.kid) continue
    // jose also throws if the key does not fit the algorithm.
    const isValid = await compactVerify(token, key.verifying, { algorithms: [alg] }).then(
      () => true,
      () => false,
    )
    if (isValid) return parseJsonObject(payload)
  }
  return undefined
}

/** Signs a payload as a compact JWS (RFC 7515 §5.1). Throws `Misuse` if the token would be too long to verify. */
export async function signCompact(
  payload: Uint8Array,
  header: { readonly alg: string; readonly typ: string; readonly kid: string },
  key: KeyObject,
): Promise<string> {
  const token = await new CompactSign(payload).setProtectedHeader(header).sign(key)
  if (token.length <= maxLength) return token
  throw new Misuse(`A token has at most ${maxLength} characters, but this one would have ${token.length}.`)
}

/** Normalises a `typ`: case and the prefix `application/` do not matter (RFC 7515 §4.1.9). */
export function mediaType(typ: string): string {
  const name = typ.toLowerCase()
  return name.includes('/') ? name : `application/${name}`
}

/** Decodes strict base64url (RFC 7515 §2, RFC 4648 §3.5), so that each token has one spelling; else `undefined`. */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // Node decodes leniently.
  return bytes.toString('base64url') === text ? bytes : undefined
}
