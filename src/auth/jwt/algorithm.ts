import { createHmac, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto'
import { JWTKeyError } from './key-error.ts'
import { isRoca } from './roca.ts'

/** A signature algorithm (RFC 7518 §3.1, RFC 8037 §3.1): works at once, in the same turn of the event loop. */
export interface Algorithm {
  readonly name: 'HS256' | 'ES256' | 'EdDSA' | 'RS256'
  sign(input: string, key: KeyObject): Buffer
  verify(input: string, signature: Uint8Array, key: KeyObject): boolean
}

/** The algorithm that this kind of key is for, the only one ever used with it. Throws `JWTKeyError` for a weak key. */
export function algorithmOf(key: KeyObject): Algorithm {
  const { symmetricKeySize = 0, asymmetricKeyType, asymmetricKeyDetails = {} } = key
  const { namedCurve, modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails
  if (key.type === 'secret') {
    demand(symmetricKeySize >= 32, `A secret needs 32 bytes or more; this one has ${symmetricKeySize}.`)
    return hs256
  }
  if (asymmetricKeyType === 'ed25519') return edDSA
  if (asymmetricKeyType === 'ec') {
    demand(namedCurve === 'prime256v1', `An EC key needs the curve P-256; this one has ${namedCurve}.`)
    return es256
  }
  demand(asymmetricKeyType === 'rsa', `No algorithm here is for a key of the type "${asymmetricKeyType}".`)
  demand(modulusLength >= 2048, `An RSA key needs 2048 bits or more; this one has ${modulusLength}.`)
  demand(
    publicExponent >= 65537n,
    `An RSA key needs an exponent from 65537 up; this one has ${publicExponent}.`,
  )
  demand(!isRoca(key), 'This RSA key comes from a broken key generator (CVE-2017-15361).')
  return rs256
}

function demand(condition: boolean, otherwise: string): void {
  if (!condition) throw new JWTKeyError(otherwise)
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
