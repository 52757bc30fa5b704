import type { JsonWebKey } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { JWTKeyError, JWTKeys, type JWTKeysOptions } from '#auth/jwt'
import type { Environment } from './environment.ts'

/** What signs and verifies tokens, newest first, ready for `JWTKeys`: secrets, or private keys. */
export type KeySources = Pick<JWTKeysOptions, 'secrets' | 'keys'>

type PrivateKey = string | JsonWebKey

/**
 * Reads `JWT_SECRET` or the files of `JWT_KEYS`; `undefined` when neither is set, which production does not allow.
 * What `JWTKeys` would not take is a mistake. No key is ever quoted, nor what may be one in the place of a file's name.
 */
export function readJwtKeys(environment: Environment, production: boolean): KeySources | undefined {
  const secrets = environment.list('JWT_SECRET')
  const files = environment.list('JWT_KEYS')
  if (secrets.length > 0 && files.length > 0) {
    environment.mistake('JWT_SECRET', 'and JWT_KEYS are both set: keep one of them')
  }
  if (production && secrets.length === 0 && files.length === 0) {
    environment.mistake(
      'JWT_SECRET',
      'must be set in production to 32 random bytes or more (or set JWT_KEYS)',
    )
  }

  if (files.length > 0) return { keys: readPrivateKeys(environment, files) }
  return secrets.length > 0 ? { secrets: proveSecrets(environment, secrets, production) } : undefined
}

function proveSecrets(environment: Environment, secrets: string[], production: boolean): string[] {
  const isWeak = secrets.some((secret) => isShort(secret) || (production && isMonotonous(secret)))
  const problem = isWeak
    ? 'must be 32 random bytes or more, each of them if there are several'
    : problemWith({ secrets })
  if (problem) environment.mistake('JWT_SECRET', problem)
  return secrets
}

function isShort(secret: string): boolean {
  return Buffer.byteLength(secret) < 32
}

// Of 32 random bytes, as hexadecimal digits even, so few are different as good as never.
function isMonotonous(secret: string): boolean {
  return new Set(Buffer.from(secret)).size < 8
}

function readPrivateKeys(environment: Environment, files: string[]): PrivateKey[] {
  const keys: PrivateKey[] = []
  for (const [index, file] of files.entries()) {
    if (!isFile(file)) {
      environment.mistake('JWT_KEYS', `takes files with private keys: entry ${index + 1} is no file`)
      continue
    }
    const key = readPrivateKey(file)
    const problem = key
      ? problemWith({ keys: [...keys, key] })
      : 'no private key in PEM or JWK can be read from it'
    if (problem) environment.mistake('JWT_KEYS', `names ${file}: ${problem}`)
    else if (key) keys.push(key)
  }
  return keys
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function readPrivateKey(file: string): PrivateKey | undefined {
  try {
    const text = readFileSync(file, 'utf8')
    if (text.includes('PRIVATE KEY-----')) return text
    const jwk: JsonWebKey = JSON.parse(text)
    return jwk.kty !== 'oct' && jwk.d !== undefined ? jwk : undefined
  } catch {
    return undefined
  }
}

/** What `JWTKeys` has against these, in its own words. */
function problemWith(keys: KeySources): string | undefined {
  try {
    new JWTKeys({ ...keys, issuer: 'proof', audience: 'proof' })
    return undefined
  } catch (error) {
    if (error instanceof JWTKeyError) return error.message.replace(/\.$/, '')
    throw error
  }
}
