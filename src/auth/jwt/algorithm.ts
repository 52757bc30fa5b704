import { createHmac, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto'
import { JWTKeyError } from './key-error.ts'

/** A signature algorithm (RFC 7518 §3.1, RFC 8037 §3.1): works at once, in the same turn of the event loop. */
export interface Algorithm {
  readonly name: 'HS256' | 'ES256' | 'EdDSA' | 'RS256'
  sign(input: string, key: KeyObject): Buffer
  verify(input: string, signature: Uint8Array, key: KeyObject): boolean
}

/** The algorithm that this kind of key is for, the only one ever used with it; throws `JWTKeyError` if it is weak. */
export function algorithmOf(key: KeyObject): Algorithm {
  const { symmetricKeySize = 0, asymmetricKeyType, asymmetricKeyDetails = {} } = key
  const { namedCurve, modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails
  if (key.type === 'secret') {
    if (symmetricKeySize >= 32) return hs256
    throw new JWTKeyError(`A secret needs at least 32 bytes; this one has ${symmetricKeySize}.`)
  }
  if (asymmetricKeyType === 'ed25519') return edDSA
  if (asymmetricKeyType === 'ec') {
    if (namedCurve === 'prime256v1') return es256
    throw new JWTKeyError(`An EC key needs the curve P-256; this one has ${namedCurve}.`)
  }
  if (asymmetricKeyType === 'rsa') {
    if (modulusLength < 2048) throw new JWTKeyError(`An RSA key needs 2048 bits; this one has ${modulusLength}.`)
    if (publicExponent >= 65537n) return rs256
    throw new JWTKeyError(`An RSA key needs the exponent 65537 or more; this one has ${publicExponent}.`)
  }
  throw new JWTKeyError(`A key is Ed25519, EC (P-256) or RSA, or a secret; this one is ${asymmetricKeyType}.`)
}

const hs256: Algorithm = {
  name: 'HS256',
  sign: (input, key) => createHmac('sha256', key).update(input).digest(),
  verify(input, signature, key) {
    const expected = hs256.sign(input, key)
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  },
}

const es256 = asymmetric('ES256', 'sha256')
const edDSA = asymmetric('EdDSA', null)
const rs256 = asymmetric('RS256', 'sha256')

function asymmetric(name: Algorithm['name'], digest: 'sha256' | null): Algorithm {
  // R and S side by side in 64 bytes, not in DER (RFC 7518 §3.4); for ECDSA only.
  const dsaEncoding = 'ieee-p1363'
  return {
    name,
    sign: (input, key) => sign(digest, Buffer.from(input), { key, dsaEncoding }),
    verify: (input, signature, key) => verify(digest, Buffer.from(input), { key, dsaEncoding }, signature),
  }
}
