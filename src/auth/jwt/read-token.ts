import { isBase64url } from '../base64url.ts'
import { type JsonObject, parseJsonObject } from '../json-object.ts'
import type { Claims } from './payload.ts'

// The checks that jose leaves out, so that each token has one spelling and nothing in it chooses a key or an algorithm.

export const maxLength = 8192

// Unsupported extensions (RFC 7515 §4.1.11, RFC 7797), compression, and keys chosen by the sender (RFC 8725 §3.10).
const refusedMembers = ['crit', 'b64', 'zip', 'jwk', 'jku', 'x5c', 'x5u']

/**
 * The header and the claims of a compact JWS (RFC 7515 §7.1), without verification. Returns `undefined` if the token is too long, does
 * not have three parts, is malformed, or has a forbidden header member.
 */
export function readToken(token: string): { header: JsonObject; claims: Claims } | undefined {
  const parts = token.length <= maxLength ? token.split('.') : []
  // An encrypted token has five parts and is rejected without decoding.
  if (parts.length !== 3 || !parts.every(isBase64url)) return undefined
  const [header, claims] = parts.slice(0, 2).map((part) => parseJsonObject(Buffer.from(part, 'base64url')))
  if (!header || refusedMembers.some((name) => Object.hasOwn(header, name))) return undefined
  return claims && hasTextOnly(claims.aud) ? { header, claims } : undefined
}

// jose ignores members of the list that are no text.
function hasTextOnly(audience: unknown): boolean {
  return [audience].flat().every((each) => typeof each === 'string')
}
