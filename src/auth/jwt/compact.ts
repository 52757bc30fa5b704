import { Misuse } from '../errors.ts'
import { parseJsonObject } from '../json-object.ts'
import type { JWTKey } from './key.ts'
import { type JWK, readKey } from './read-key.ts'

const maxLength = 8192

// Unsupported extensions (RFC 7515 §4.1.11, RFC 7797), compression, and keys chosen by the sender (RFC 8725 §3.10).
const refusedMembers = ['crit', 'b64', 'zip', 'jwk', 'jku', 'x5c', 'x5u']

/** The header members that verification reads (RFC 7515 §4.1). */
export interface Header {
  readonly alg: string
  readonly typ?: string | undefined
  readonly kid?: string | undefined
}

/** The payload of a compact JWS (RFC 7515 §7.1) signed by `jwk` with one of `algorithms`, else `undefined`. Checks no claims. */
export function verifyCompact(
  token: string,
  jwk: JWK,
  algorithms: readonly string[],
): Uint8Array | undefined {
  return openCompact(token, (encoded) => {
    const header = parseHeader(encoded)
    const key = header && algorithms.includes(header.alg) && readPublicKey(jwk)
    return key && key.alg === header.alg ? [key] : []
  })
}

/** `verifyCompact` with several keys: `keysFor` returns the keys to try for an encoded header. */
export function openCompact(
  token: string,
  keysFor: (header: string) => readonly JWTKey[],
): Buffer | undefined {
  if (typeof token !== 'string' || token.length > maxLength) return undefined
  const first = token.indexOf('.')
  const last = token.lastIndexOf('.')
  // Exactly three parts. An encrypted token has five and is rejected without decoding.
  if (first === last || token.indexOf('.', first + 1) !== last) return undefined
  const keys = keysFor(token.slice(0, first))
  const payload = decodeBase64url(token.slice(first + 1, last))
  const signature = decodeBase64url(token.slice(last + 1))
  if (!payload || !signature) return undefined
  const input = token.slice(0, last)
  return keys.some((key) => key.verify(input, signature)) ? payload : undefined
}

/** Signs claims as a compact JWS (RFC 7515 §5.1). Throws `Misuse` if the token would be too long to verify. */
export function signCompact(claims: object, typ: string, key: JWTKey): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
  const header = Buffer.from(JSON.stringify({ alg: key.alg, typ, kid: key.kid })).toString('base64url')
  const input = `${header}.${payload}`
  const token = `${input}.${key.sign(input).toString('base64url')}`
  if (token.length > maxLength)
    throw new Misuse(`A token has at most ${maxLength} characters, but this one would have ${token.length}.`)
  return token
}

function readPublicKey(jwk: JWK): JWTKey | undefined {
  try {
    const { d: _, ...publicHalf } = jwk
    return readKey(publicHalf)
  } catch {
    return undefined
  }
}

/** Parses the encoded header of a token. Returns `undefined` if it is malformed or has a forbidden member. */
export function parseHeader(encoded: string): Header | undefined {
  const bytes = decodeBase64url(encoded)
  const header = bytes && parseJsonObject(bytes)
  if (!header || refusedMembers.some((name) => Object.hasOwn(header, name))) return undefined
  const { alg, typ, kid } = header
  return typeof alg === 'string' && isOptionalString(typ) && isOptionalString(kid)
    ? { alg, typ, kid }
    : undefined
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

function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}
