import type { KeyObject } from 'node:crypto'

// The moduli that a widespread chip library made are powers of 65537 modulo each of these (CVE-2017-15361).
const primes = [11n, 13n, 17n, 19n, 37n, 53n, 61n, 71n, 73n, 79n, 97n, 103n, 107n, 109n, 127n, 151n, 157n]

/** Whether an RSA key bears the mark of a generator whose private keys can be computed. */
export function isRoca(key: KeyObject): boolean {
  const { n = '' } = key.export({ format: 'jwk' })
  const modulus = BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`)
  return primes.every((prime) => isPowerOf65537(modulus % prime, prime))
}

function isPowerOf65537(value: bigint, prime: bigint): boolean {
  let power = 1n
  do {
    if (power === value) return true
    power = (power * 65537n) % prime
  } while (power !== 1n)
  return false
}
