import { createHmac, createPublicKey, hash, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto'
import { AuthError } from '../errors.ts'

/** 500: a key or secret is unsuitable for tokens. Thrown at startup. The message contains no secret. */
export class JWTKeyError extends AuthError {
  override readonly name = 'JWTKeyError'
  readonly status = 500
  readonly code = 'ERR_AUTH_JWT_KEY'
  override readonly expose = false
}

/** A signature algorithm (RFC 7518 §3.1, RFC 8037 §3.1). Synchronous. */
interface Algorithm {
  readonly name: 'HS256' | 'ES256' | 'EdDSA' | 'RS256'
  sign(input: string, key: KeyObject): Buffer
  verify(input: string, signature: Uint8Array, key: KeyObject): boolean
}

/** A checked key. Its type determines the algorithm, so a token cannot choose one (RFC 8725 §3.1). */
export class JWTKey {
  /** The SHA-256 thumbprint (RFC 7638 §3). */
  readonly kid: string
  readonly canSign: boolean
  readonly #algorithm: Algorithm
  readonly #key: KeyObject
  readonly #verifyingKey: KeyObject

  /** Throws `JWTKeyError` for a weak or unsuitable key. `maySign` is false if the `key_ops` of the JWK exclude signing. */
  constructor(key: KeyObject, maySign = true) {
    this.#algorithm = algorithmOf(key)
    this.#key = key
    this.#verifyingKey = key.type === 'private' ? createPublicKey(key) : key
    this.kid = thumbprint(this.#verifyingKey)
    this.canSign = maySign && key.type !== 'public'
    const isPair = !this.canSign || this.verify('', this.sign(''))
    check(isPair, 'The private and the public half of this key do not match.')
  }

  get alg(): Algorithm['name'] {
    return this.#algorithm.name
  }

  sign(input: string): Buffer {
    return this.#algorithm.sign(input, this.#key)
  }

  verify(input: string, signature: Uint8Array): boolean {
    return this.#algorithm.verify(input, signature, this.#verifyingKey)
  }
}

function algorithmOf(key: KeyObject): Algorithm {
  const { symmetricKeySize = 0, asymmetricKeyType, asymmetricKeyDetails = {} } = key
  const { namedCurve, modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails
  if (key.type === 'secret') {
    check(symmetricKeySize >= 32, `A secret needs 32 bytes or more; this one has ${symmetricKeySize}.`)
    return hs256
  }
  if (asymmetricKeyType === 'ed25519') return edDSA
  if (asymmetricKeyType === 'ec') {
    check(namedCurve === 'prime256v1', `An EC key needs the curve P-256; this one has ${namedCurve}.`)
    return es256
  }
  check(asymmetricKeyType === 'rsa', `Keys of the type "${asymmetricKeyType}" are not supported.`)
  check(modulusLength >= 2048, `An RSA key needs 2048 bits or more; this one has ${modulusLength}.`)
  check(
    publicExponent >= 65537n,
    `An RSA key needs an exponent of 65537 or more; this one has ${publicExponent}.`,
  )
  check(!isROCA(key), 'This RSA key comes from a broken key generator (CVE-2017-15361).')
  return rs256
}

function check(condition: boolean, message: string): void {
  if (!condition) throw new JWTKeyError(message)
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
  // For ECDSA only: R and S in 64 bytes instead of DER (RFC 7518 §3.4).
  const dsaEncoding = 'ieee-p1363'
  return {
    name,
    sign: (input, key) => sign(digest, Buffer.from(input), { key, dsaEncoding }),
    verify: (input, signature, key) => verify(digest, Buffer.from(input), { key, dsaEncoding }, signature),
  }
}

function thumbprint(key: KeyObject): string {
  // RFC 7638 requires this order. `JSON.stringify` skips the members that the key type lacks.
  const { crv, e, k, kty, n, x, y } = key.export({ format: 'jwk' })
  return hash('sha256', JSON.stringify({ crv, e, k, kty, n, x, y }), 'base64url')
}

// Modulo each of these primes, a ROCA modulus is a power of 65537 (CVE-2017-15361).
const rocaPrimes = [11n, 13n, 17n, 19n, 37n, 53n, 61n, 71n, 73n, 79n, 97n, 103n, 107n, 109n, 127n, 151n, 157n]

/** Whether the private key can be computed from the public key, because a broken chip library generated the pair. */
function isROCA(key: KeyObject): boolean {
  const { n = '' } = key.export({ format: 'jwk' })
  const modulus = BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`)
  return rocaPrimes.every((prime) => isPowerOf65537(modulus % prime, prime))
}

function isPowerOf65537(value: bigint, prime: bigint): boolean {
  let power = 1n
  do {
    if (power === value) return true
    power = (power * 65537n) % prime
  } while (power !== 1n)
  return false
}
