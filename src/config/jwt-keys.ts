import type { JsonWebKey } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { JWTKeyError, JWTKeys, type JWTKeysOptions } from '#auth/jwt'
import type { Environment } from './environment.ts'

/** The keys for `JWTKeys`: secrets, or private keys. The first key signs. */
export type KeySources = Pick<JWTKeysOptions, 'secrets' | 'keys'>

type PrivateKey = string | JsonWebKey

/**
 * Reads `JWT_SECRET` or the files of `JWT_KEYS`. Returns `undefined` if neither is set or a secret is weak. An error message never
 * contains a key, even if a key was set instead of a file name.
 */
export function readJwtKeys(environment: Environment, production: boolean): KeySources | undefined {
  const secrets = environment.list('JWT_SECRET')
  const files = environment.list('JWT_KEYS')
  if (secrets.length > 0 && files.length > 0) {
    environment.reject('JWT_SECRET', 'and JWT_KEYS are both set. Remove one of them')
  }
  if (production && secrets.length === 0 && files.length === 0) {
    environment.reject('JWT_SECRET', `or JWT_KEYS must be set in production. ${howToMakeSecret}`)
  }

  if (files.length > 0) return { keys: readPrivateKeys(environment, files) }
  if (secrets.length === 0) return undefined
  if (secrets.some((secret) => isWeak(secret, production))) {
    environment.reject('JWT_SECRET', `needs at least 32 random bytes in each entry. ${howToMakeSecret}`)
    return undefined
  }
  const problem = keyProblem({ secrets })
  if (problem) environment.reject('JWT_SECRET', `cannot be used. ${problem}`)
  return { secrets }
}

const howToMakeSecret = 'Create a secret with `openssl rand -base64 32`'

// 32 random bytes have at least 8 different values with near certainty, even as hexadecimal digits.
function isWeak(secret: string, production: boolean): boolean {
  const bytes = Buffer.from(secret)
  return bytes.length < 32 || (production && new Set(bytes).size < 8)
}

function readPrivateKeys(environment: Environment, files: string[]): PrivateKey[] {
  const keys: PrivateKey[] = []
  for (const [index, file] of files.entries()) {
    const text = readFile(file)
    if (text === undefined) {
      environment.reject(
        'JWT_KEYS',
        `must be paths of private keys, separated by commas. Entry ${index + 1} is not a readable file`,
      )
      continue
    }
    const key = parsePrivateKey(text)
    const problem = key
      ? keyProblem({ keys: [...keys, key] })
      : 'It contains no private key in PEM or JWK format'
    if (problem) environment.reject('JWT_KEYS', `cannot use ${file}. ${problem}`)
    else if (key) keys.push(key)
  }
  return keys
}

/** The text of a regular file. `undefined` if it cannot be read. */
export function readFile(path: string): string | undefined {
  try {
    // Reading a pipe could block forever.
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : undefined
  } catch {
    return undefined
  }
}

function parsePrivateKey(text: string): PrivateKey | undefined {
  if (text.includes('PRIVATE KEY-----')) return text
  try {
    const jwk: JsonWebKey = JSON.parse(text)
    return jwk.kty !== 'oct' && jwk.d !== undefined ? jwk : undefined
  } catch {
    return undefined
  }
}

/** Returns the message of `JWTKeys` if it rejects the keys. */
function keyProblem(keys: KeySources): string | undefined {
  try {
    new JWTKeys({ ...keys, issuer: 'check', audience: 'check' })
    return undefined
  } catch (error) {
    if (error instanceof JWTKeyError) return error.message.replace(/\.$/, '')
    throw error
  }
}
