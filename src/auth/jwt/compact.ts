import type { JsonWebKey } from 'node:crypto'
import { decodeBase64url } from './base64url.ts'
import { type Header, parseHeader } from './header.ts'
import { allows, JWTKey } from './key.ts'

const longest = 8192

/**
 * The payload of a JWS in compact form (RFC 7515 §7.1) if its format is right and `jwk` signed it: signature and format,
 * no claims. `undefined` for anything else, be it the token, its `alg` (not in `algorithms`, or not the key's) or an
 * unsuitable key. Never throws for a bad token or key.
 */
export function verifyCompact(
  token: string,
  jwk: JsonWebKey,
  algorithms: readonly string[],
): Uint8Array | undefined {
  return openCompact(token, (encoded) => {
    const header = parseHeader(encoded)
    return header && algorithms.includes(header.alg) ? verifyingKeys(jwk, header) : []
  })
}

/** The same for any of the keys that `keysFor` finds for the header, which it gets as it was sent. */
export function openCompact(token: string, keysFor: (header: string) => readonly JWTKey[]): Buffer | undefined {
  if (typeof token !== 'string' || token.length > longest) return undefined
  const first = token.indexOf('.')
  const last = token.lastIndexOf('.')
  // Exactly three parts: a token of five is encrypted, and is not even looked into.
  if (first < 0 || token.indexOf('.', first + 1) !== last) return undefined
  const keys = keysFor(token.slice(0, first))
  const payload = decodeBase64url(token.slice(first + 1, last))
  const signature = decodeBase64url(token.slice(last + 1))
  if (!payload || !signature) return undefined
  const input = token.slice(0, last)
  return keys.some((key) => key.verify(input, signature)) ? payload : undefined
}

function verifyingKeys(jwk: JsonWebKey, header: Header): JWTKey[] {
  try {
    const key = JWTKey.from(jwk)
    return key.alg === header.alg && allows(jwk, 'verify') ? [key] : []
  } catch {
    return []
  }
}
