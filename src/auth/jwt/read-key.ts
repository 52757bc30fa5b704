import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import type { JWK } from './jwk.ts'
import { JWTKey } from './key.ts'
import { JWTKeyError } from './key-error.ts'

/** A secret for HMAC: bytes, or text that stands for its UTF-8 bytes. Throws `JWTKeyError` if it is not fit. */
export function readSecret(secret: string | Uint8Array): JWTKey {
  if (typeof secret !== 'string' && !(secret instanceof Uint8Array))
    throw new JWTKeyError(`A secret is text or bytes, and this one is ${typeof secret}: is it set?`)
  const bytes = Buffer.from(secret)
  // A public key must never become a secret that everybody knows (RFC 8725 §2.1).
  if (bytes.includes('-----BEGIN')) {
    throw new JWTKeyError('This secret is a key in PEM: list it under `keys`, not under `secrets`.')
  }
  return new JWTKey(createSecretKey(bytes))
}

/**
 * A private or public key in PEM, or any JWK (RFC 7517 §4), whose `use`, `key_ops` and `alg` are honoured. Throws
 * `JWTKeyError` if it is not fit.
 */
export function readKey(source: string | JWK): JWTKey {
  return typeof source === 'string' ? readPem(source) : readJwk(source)
}

function readPem(pem: string): JWTKey {
  const isPrivate = pem.includes(' PRIVATE KEY-----')
  return new JWTKey(load(() => (isPrivate ? createPrivateKey(pem) : createPublicKey(pem))))
}

function readJwk(jwk: JWK): JWTKey {
  const isPrivate = jwk.kty !== 'oct' && jwk.d !== undefined
  const use = isPrivate ? 'sign' : 'verify'
  if (jwk.use !== undefined && jwk.use !== 'sig') throw new JWTKeyError('The `use` of this JWK is not "sig".')
  if (!allows(jwk, use)) throw new JWTKeyError(`The \`key_ops\` of this JWK do not allow "${use}".`)
  const object = load(() => keyObject(jwk, isPrivate))
  const key = new JWTKey(object, allows(jwk, 'sign'))
  if (jwk.alg !== undefined && jwk.alg !== key.alg) {
    throw new JWTKeyError(`The \`alg\` of this JWK is not "${key.alg}", which is what such a key is for.`)
  }
  return key
}

function allows({ key_ops: operations }: JWK, operation: 'sign' | 'verify'): boolean {
  return operations === undefined || (Array.isArray(operations) && operations.includes(operation))
}

function keyObject(jwk: JWK, isPrivate: boolean): KeyObject {
  if (jwk.kty === 'oct') return createSecretKey(jwk.k ?? '', 'base64url')
  // What Node's types call a JWK differs from version to version; Node itself proves what it gets.
  const input = { key: { ...jwk } as never, format: 'jwk' } as const
  return isPrivate ? createPrivateKey(input) : createPublicKey(input)
}

function load(create: () => KeyObject): KeyObject {
  try {
    return create()
  } catch (cause) {
    throw new JWTKeyError('This key cannot be read: it is no unencrypted PEM or JWK of a key.', { cause })
  }
}
