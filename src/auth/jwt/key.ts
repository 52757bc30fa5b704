import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { type Algorithm, algorithmOf } from './algorithm.ts'
import { JWTKeyError } from './key-error.ts'

/** A key that was found fit: its kind decides the algorithm. Signs if it is a secret or private, and may. */
export class JWTKey {
  /** The SHA-256 thumbprint (RFC 7638 §3). */
  readonly kid: string
  readonly canSign: boolean
  readonly #algorithm: Algorithm
  readonly #key: KeyObject
  readonly #verifyingKey: KeyObject

  /** Throws `JWTKeyError` for a weak or unsuitable key. */
  constructor(key: KeyObject, maySign = true) {
    this.#algorithm = algorithmOf(key)
    this.#key = key
    this.#verifyingKey = key.type === 'private' ? createPublicKey(key) : key
    this.kid = thumbprint(this.#verifyingKey)
    this.canSign = maySign && key.type !== 'public'
    if (this.canSign && !this.verify('', this.sign(''))) {
      throw new JWTKeyError('The private and the public half of this key do not belong together.')
    }
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

function thumbprint(key: KeyObject): string {
  // In this order; the members that a kind of key lacks are left out.
  const { crv, e, k, kty, n, x, y } = key.export({ format: 'jwk' })
  return hash('sha256', JSON.stringify({ crv, e, k, kty, n, x, y }), 'base64url')
}
