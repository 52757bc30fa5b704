import { createHmac, timingSafeEqual, verify } from 'node:crypto'
import { algorithm, issuer, jwtKey } from './environment.ts'

/** Whether a JWT is valid: algorithm, signature and claims, verified with `node:crypto` alone. */
export function isValid(token: string): boolean {
  try {
    const [header = '', payload = '', signature = '', ...more] = token.split('.')
    if (more.length > 0 || JSON.parse(text(header)).alg !== algorithm) return false
    if (!hasValidSignature(`${header}.${payload}`, Buffer.from(signature, 'base64url'))) return false
    const { exp, iss, aud, userId } = JSON.parse(text(payload))
    return exp > Date.now() / 1000 && iss === issuer && aud === issuer && typeof userId === 'string'
  } catch {
    return false
  }
}

function hasValidSignature(input: string, signature: Buffer): boolean {
  if (algorithm === 'HS256') {
    const expected = createHmac('sha256', jwtKey).update(input).digest()
    return expected.length === signature.length && timingSafeEqual(expected, signature)
  }
  if (algorithm === 'EdDSA') return verify(null, Buffer.from(input), jwtKey, signature)
  return verify('sha256', Buffer.from(input), { key: jwtKey, dsaEncoding: 'ieee-p1363' }, signature)
}

function text(encoded: string): string {
  return Buffer.from(encoded, 'base64url').toString()
}
