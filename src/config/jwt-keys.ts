import { createPrivateKey, createSecretKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Environment } from './environment.ts'

export const MINIMUM_SECRET_BYTES = 32

/**
 * The keys of `JWT_SECRET` or `JWT_KEYS`, newest first. None when neither is set, which production does not allow.
 * A weak, unreadable or public key is a mistake; no key is ever quoted.
 */
export function readJwtKeys(environment: Environment, production: boolean): KeyObject[] {
  const secrets = environment.list('JWT_SECRET')
  const files = environment.list('JWT_KEYS')

  if (production && secrets.length === 0 && files.length === 0) {
    environment.mistake(
      'JWT_SECRET',
      'must be set in production to 32 random bytes or more (or set JWT_KEYS)',
    )
  }
  if (secrets.length > 0 && files.length > 0) {
    environment.mistake('JWT_SECRET', 'and JWT_KEYS are both set: keep one of them')
  }
  if (secrets.some((secret) => Buffer.byteLength(secret) < MINIMUM_SECRET_BYTES)) {
    environment.mistake(
      'JWT_SECRET',
      `must be at least ${MINIMUM_SECRET_BYTES} bytes long, each of them if there are several`,
    )
  }
  return [
    ...secrets.map((secret) => createSecretKey(Buffer.from(secret))),
    ...files.flatMap((file) => privateKey(environment, file)),
  ]
}

function privateKey(environment: Environment, file: string): KeyObject[] {
  try {
    const text = readFileSync(file, 'utf8')
    const key = text.trimStart().startsWith('{')
      ? createPrivateKey({ key: JSON.parse(text), format: 'jwk' })
      : createPrivateKey(text)
    if (isStrongEnough(key)) return [key]
    environment.mistake(
      'JWT_KEYS',
      `names ${file}, which is neither Ed25519, ECDSA P-256 nor RSA of 2048 bits or more`,
    )
  } catch (error) {
    const unreadable = error instanceof Error && 'syscall' in error
    environment.mistake(
      'JWT_KEYS',
      `names ${file}, which ${unreadable ? 'cannot be read' : 'holds no private key (PEM or JWK)'}`,
    )
  }
  return []
}

function isStrongEnough(key: KeyObject): boolean {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {}
  if (key.asymmetricKeyType === 'rsa') return modulusLength >= 2048
  if (key.asymmetricKeyType === 'ec') return namedCurve === 'prime256v1'
  return key.asymmetricKeyType === 'ed25519'
}
