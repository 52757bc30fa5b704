import { createPrivateKey, createPublicKey, createSecretKey, hash, type KeyObject } from 'node:crypto'
import type { JsonObject } from '../json-object.ts'
import { checkStrength, JWTKeyError } from './key-strength.ts'

/** A JSON Web Key (RFC 7517 §4, RFC 7518 §6, RFC 8037 §2). */
export type JWK = JsonObject

/** A checked key. Its type determines the algorithm, so a token cannot choose one (RFC 8725 §3.1). */
export interface JWTKey {
  readonly alg: 'HS256' | 'ES256' | 'EdDSA' | 'RS256'
  /** The `kid` of the JWK, else the SHA-256 thumbprint (RFC 7638 §3). */
  readonly kid: string
  /** The secret or the public key. */
  readonly verifying: KeyObject
  /** The secret or the private key, unless the key may only verify. */
  readonly signing: KeyObject | undefined
}

/** An HMAC secret from bytes or UTF-8 text. Throws `JWTKeyError` if it is unsuitable. */
export function readSecret(secret: string | Uint8Array): JWTKey {
  if (typeof secret !== 'string' && !(secret instanceof Uint8Array))
    throw new JWTKeyError(`A secret must be text or bytes, but this one is ${typeof secret}: is it set?`)
  const bytes = Buffer.from(secret)
  // Algorithm confusion: with a public key as the secret, anyone could sign (RFC 8725 §2.1).
  if (bytes.includes('-----BEGIN'))
    throw new JWTKeyError('This secret is a key in PEM: list it under `keys`, not under `secrets`.')
  return keyOf(createSecretKey(bytes))
}

/** A key from PEM or a JWK. Respects `use`, `key_ops`, `alg` and `kid` of a JWK. Throws `JWTKeyError` if the key is unsuitable. */
export function readKey(source: string | JWK): JWTKey {
  if (typeof source === 'string') return keyOf(keyObject(source, source.includes(' PRIVATE KEY-----')))
  const isPrivate = source.kty !== 'oct' && source.d !== undefined
  const key = keyOf(keyObject(source, isPrivate))
  const { use = 'sig', key_ops: operations = ['sign', 'verify'], alg = key.alg, kid = key.kid } = source
  // RFC 7517 §4.3.
  const allows = (operation: string) => Array.isArray(operations) && operations.includes(operation)
  if (use !== 'sig' || !allows(isPrivate ? 'sign' : 'verify') || alg !== key.alg || typeof kid !== 'string')
    throw new JWTKeyError(
      `This JWK is not for ${key.alg} signatures: check its \`use\`, \`key_ops\`, \`alg\` and \`kid\`.`,
    )
  return { ...key, kid, signing: allows('sign') ? key.signing : undefined }
}

function keyObject(source: string | JWK, isPrivate: boolean): KeyObject {
  try {
    if (typeof source === 'string') return isPrivate ? createPrivateKey(source) : createPublicKey(source)
    // Node checks the types of the members.
    if (source.kty === 'oct') return createSecretKey((source.k ?? '') as string, 'base64url')
    const input = { key: { ...source } as never, format: 'jwk' } as const
    return isPrivate ? createPrivateKey(input) : createPublicKey(input)
  } catch (cause) {
    throw new JWTKeyError('This key cannot be read: pass an unencrypted PEM key or a JWK.', { cause })
  }
}

function keyOf(key: KeyObject): JWTKey {
  checkStrength(key)
  const alg = algorithmOf(key)
  const verifying = key.type === 'private' ? createPublicKey(key) : key
  return { alg, kid: thumbprint(verifying), verifying, signing: key.type === 'public' ? undefined : key }
}

const algorithms = new Map([
  ['ed25519', 'EdDSA'],
  ['prime256v1', 'ES256'],
  ['rsa', 'RS256'],
] as const)

function algorithmOf({ type, asymmetricKeyType, asymmetricKeyDetails }: KeyObject): JWTKey['alg'] {
  if (type === 'secret') return 'HS256'
  const kind = asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType
  const alg = algorithms.get(kind as never)
  if (alg) return alg
  throw new JWTKeyError(`A key of the type "${kind}" is not supported: use Ed25519, P-256 or RSA.`)
}

function thumbprint(key: KeyObject): string {
  // RFC 7638 requires this order. `JSON.stringify` skips the members that the key type lacks.
  const { crv, e, k, kty, n, x, y } = key.export({ format: 'jwk' })
  return hash('sha256', JSON.stringify({ crv, e, k, kty, n, x, y }), 'base64url')
}
