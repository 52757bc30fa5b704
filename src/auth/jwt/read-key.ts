import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { JWTKey, JWTKeyError } from './key.ts'

/** A JSON Web Key (RFC 7517 §4, RFC 7518 §6, RFC 8037 §2). Node's own type differs between versions. */
export type JWK = { readonly key_ops?: readonly string[] | undefined } & {
  readonly [Member in MetadataMember | KeyMember]?: string | undefined
}

type MetadataMember = 'kty' | 'kid' | 'use' | 'alg'
type KeyMember = 'crv' | 'x' | 'y' | 'n' | 'e' | 'k' | 'd' | 'p' | 'q' | 'dp' | 'dq' | 'qi'

/** An HMAC secret from bytes or UTF-8 text. Throws `JWTKeyError` if it is unsuitable. */
export function readSecret(secret: string | Uint8Array): JWTKey {
  if (typeof secret !== 'string' && !(secret instanceof Uint8Array))
    throw new JWTKeyError(`A secret must be text or bytes, but this one is ${typeof secret}: is it set?`)
  const bytes = Buffer.from(secret)
  // Algorithm confusion: with a public key as the secret, anyone could sign (RFC 8725 §2.1).
  if (bytes.includes('-----BEGIN')) {
    throw new JWTKeyError('This secret is a key in PEM: list it under `keys`, not under `secrets`.')
  }
  return new JWTKey(createSecretKey(bytes))
}

/** A key from PEM or a JWK. Respects the `use`, `key_ops` and `alg` of a JWK. Throws `JWTKeyError` if the key is unsuitable. */
export function readKey(source: string | JWK): JWTKey {
  return typeof source === 'string' ? readPem(source) : readJwk(source)
}

function readPem(pem: string): JWTKey {
  const isPrivate = pem.includes(' PRIVATE KEY-----')
  return new JWTKey(load(() => (isPrivate ? createPrivateKey(pem) : createPublicKey(pem))))
}

function readJwk(jwk: JWK): JWTKey {
  const isPrivate = jwk.kty !== 'oct' && jwk.d !== undefined
  const operation = isPrivate ? 'sign' : 'verify'
  if (jwk.use !== undefined && jwk.use !== 'sig') throw new JWTKeyError('The `use` of this JWK is not "sig".')
  if (!allows(jwk, operation))
    throw new JWTKeyError(`The \`key_ops\` of this JWK do not allow "${operation}".`)
  const object = load(() => keyObject(jwk, isPrivate))
  const key = new JWTKey(object, allows(jwk, 'sign'))
  if (jwk.alg !== undefined && jwk.alg !== key.alg) {
    throw new JWTKeyError(`The \`alg\` of this JWK is not "${key.alg}", the only one for this type of key.`)
  }
  return key
}

function allows({ key_ops: operations }: JWK, operation: 'sign' | 'verify'): boolean {
  return operations === undefined || (Array.isArray(operations) && operations.includes(operation))
}

function keyObject(jwk: JWK, isPrivate: boolean): KeyObject {
  if (jwk.kty === 'oct') return createSecretKey(jwk.k ?? '', 'base64url')
  // Node checks the value itself.
  const input = { key: { ...jwk } as never, format: 'jwk' } as const
  return isPrivate ? createPrivateKey(input) : createPublicKey(input)
}

function load(create: () => KeyObject): KeyObject {
  try {
    return create()
  } catch (cause) {
    throw new JWTKeyError('This key cannot be read: pass an unencrypted PEM key or a JWK.', { cause })
  }
}
