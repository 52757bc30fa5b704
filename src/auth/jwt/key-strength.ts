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
  if (key.type === 'secret')
    check(symmetricKeySize >= 32, `A secret needs 32 bytes or more; this one has ${symmetricKeySize}.`)
  if (asymmetricKeyType !== 'rsa') return
  check(modulusLength >= 2048, `An RSA key needs 2048 bits or more; this one has ${modulusLength}.`)
  check(
    publicExponent >= 65537n,
    `An RSA key needs an exponent of 65537 or more; this one has ${publicExponent}.`,
  )
  check(!isROCA(key), 'This RSA key comes from a broken key generator (CVE-2017-15361).')
}

function check(condition: boolean, message: string): void {
  if (!condition) throw new JWTKeyError(message)
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
