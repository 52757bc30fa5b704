import { createPrivateKey, createPublicKey, createSecretKey, hash, type JsonWebKey, type KeyObject } from 'node:crypto'
import { type Algorithm, algorithmOf } from './algorithm.ts'
import { decodeBase64url } from './base64url.ts'
import { JWTKeyError } from './key-error.ts'

/** A key that verifies, and signs if it is private or a secret. Making one throws `JWTKeyError` if it is not fit for that. */
export class JWTKey {
  /** The SHA-256 thumbprint of the key (RFC 7638). */
  readonly kid: string
  readonly canSign: boolean
  readonly #algorithm: Algorithm
  readonly #key: KeyObject
  readonly #publicKey: KeyObject

  private constructor(key: KeyObject, canSign = key.type !== 'public') {
    this.#algorithm = algorithmOf(key)
    this.#key = key
    this.#publicKey = key.type === 'private' ? createPublicKey(key) : key
    this.kid = thumbprint(this.#publicKey)
    this.canSign = canSign
    if (canSign && !this.verify('', this.sign(''))) throw new JWTKeyError('The two halves of this key do not fit.')
  }

  /** A secret for HMAC: bytes, or text that stands for its bytes in UTF-8. */
  static fromSecret(this: void, secret: string | Uint8Array): JWTKey {
    if (typeof secret === 'string' && secret.includes('-----BEGIN')) {
      throw new JWTKeyError('This secret is a key in PEM. Give it as a key, not as a secret.')
    }
    return new JWTKey(createSecretKey(Buffer.from(secret)))
  }

  /** A private or public key in PEM, or any JWK (RFC 7517), whose `use`, `key_ops` and `alg` are honoured. */
  static from(this: void, source: string | JsonWebKey): JWTKey {
    if (typeof source === 'string') return new JWTKey(read(source, / PRIVATE KEY-----/.test(source)))
    const isPrivate = source.d !== undefined
    const isSecret = source.kty === 'oct'
    if (source.use !== undefined && source.use !== 'sig') throw new JWTKeyError('This key is not for signatures (`use`).')
    if (!allows(source, isPrivate ? 'sign' : 'verify')) throw new JWTKeyError('This key is not for that (`key_ops`).')
    const key = isSecret ? secretOf(source) : read({ key: source, format: 'jwk' }, isPrivate)
    const made = new JWTKey(key, isPrivate || (isSecret && allows(source, 'sign')))
    if (source.alg !== undefined && source.alg !== made.alg) throw new JWTKeyError('')
    return made
  }

  /** The name of the algorithm, which the kind of the key decides. */
  get alg(): Algorithm['name'] {
    return this.#algorithm.name
  }

  verify(input: string, signature: Uint8Array): boolean {
    return this.#algorithm.verify(input, signature, this.#publicKey)
  }

  sign(input: string): Buffer {
    return this.#algorithm.sign(input, this.#key)
  }
}
