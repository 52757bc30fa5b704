import type { KeyObject } from 'node:crypto'
import { AuthError } from '../errors.ts'

/** 500: a key or secret is unsuitable for tokens. Thrown at startup. The message contains no secret. */
export class JWTKeyError extends AuthError {
  override readonly name = 'JWTKeyError'
  readonly status = 500
  readonly code = 'ERR_AUTH_JWT_KEY'
  override readonly expose = false
}

/** Throws `JWTKeyError` for a weak secret or RSA key (RFC 7518 §3.2 and §3.3, RFC 8725 §3.5). */
export function checkStrength(key: KeyObject): void {
  const { symmetricKeySize = 0, asymmetricKeyType, asymmetricKeyDetails = {} } = key
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails
  if (key.type === 'secret' && symmetricKeySize < 32)
    throw new JWTKeyError(`A secret needs 32 bytes or more; this one has ${symmetricKeySize}.`)
  if (asymmetricKeyType !== 'rsa') return
  if (modulusLength < 2048 || publicExponent < 65537n)
    throw new JWTKeyError(
      `An RSA key needs 2048 bits and an exponent of 65537 or more; this one has ${modulusLength} and ${publicExponent}.`,
    )
  if (isROCA(key)) throw new JWTKeyError('This RSA key comes from a broken key generator (CVE-2017-15361).')
}

// Modulo each of these primes, the modulus of a broken chip library is a power of 65537.
const rocaPrimes = [11n, 13n, 17n, 19n, 37n, 53n, 61n, 71n, 73n, 79n, 97n, 103n, 107n, 109n, 127n, 151n, 157n]

/** Whether the private key can be computed from the public key (CVE-2017-15361). */
function isROCA(key: KeyObject): boolean {
  const { n = '' } = key.export({ format: 'jwk' })
  const modulus = BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`)
  return rocaPrimes.every((prime) => {
    let power = 65537n % prime
    while (power !== 1n && power !== modulus % prime) power = (power * 65537n) % prime
    return power === modulus % prime
  })
}
