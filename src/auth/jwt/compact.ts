import { Misuse } from '../errors.ts'
import { decodeBase64url } from './base64url.ts'
import { encodeHeader, parseHeader } from './header.ts'
import type { JWK } from './jwk.ts'
import type { JWTKey } from './key.ts'
import { readKey } from './read-key.ts'

const longest = 8192

/**
 * The payload of a JWS in compact form (RFC 7515 §7.1) if its format is right and `jwk` signed it: signature and format,
 * no claims. `undefined` for anything else, be it the token, its `alg` (not in `algorithms`, or not the key's) or an
 * unsuitable key. Never throws for a bad token or key.
 */
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

/** The same for whichever keys fit a header, which `keysFor` gets as it was sent. */
export function openCompact(
  token: string,
  keysFor: (header: string) => readonly JWTKey[],
): Buffer | undefined {
  if (typeof token !== 'string' || token.length > longest) return undefined
  const first = token.indexOf('.')
  const last = token.lastIndexOf('.')
  // Exactly three parts: one of five is encrypted, and nothing of it is decoded.
  if (first === last || token.indexOf('.', first + 1) !== last) return undefined
  const keys = keysFor(token.slice(0, first))
  const payload = decodeBase64url(token.slice(first + 1, last))
  const signature = decodeBase64url(token.slice(last + 1))
  if (!payload || !signature) return undefined
  const input = token.slice(0, last)
  return keys.some((key) => key.verify(input, signature)) ? payload : undefined
}

/** The token in compact form with these claims, signed by this key (RFC 7515 §5.1). Throws `Misuse` if it is too long to be verified. */
export function signCompact(claims: object, typ: string, key: JWTKey): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
  const input = `${encodeHeader({ alg: key.alg, typ, kid: key.kid })}.${payload}`
  const token = `${input}.${key.sign(input).toString('base64url')}`
  if (token.length > longest)
    throw new Misuse(`A token has at most ${longest} characters, and this payload takes ${token.length}.`)
  return token
}

// Only what is public of the key counts here.
function readPublicKey(jwk: JWK): JWTKey | undefined {
  try {
    const { d: _, ...publicHalf } = jwk
    return readKey(publicHalf)
  } catch {
    return undefined
  }
}
