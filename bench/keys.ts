import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { JWTKeys, SessionToken } from 'koa-authenticators/jwt'
import { folder } from './data.ts'
import type { Algorithm } from './servers/environment.ts'

/** The keys of a server, and a function that signs tokens for it. */
export interface Keys {
  readonly environment: Record<string, string>
  /** A valid token for this user, unless the options say otherwise. */
  sign(userID: string, options?: { readonly audience?: string; readonly expiration?: Date }): Promise<string>
}

const secret = 'at-the-very-least-thirty-two-bytes-for-HS256'

/** The keys for an algorithm: a fixed secret, or a new key pair. */
export function newKeys(algorithm: Algorithm, name: string = algorithm): Keys {
  const [environment, keys] = algorithm === 'HS256' ? secretKeys() : pairKeys(algorithm, name)
  const issuer = 'koa-authenticators'
  const defaultKeys = new JWTKeys({ ...keys, issuer, audience: issuer })
  return {
    environment: { ...environment, JWT_ALGORITHM: algorithm },
    sign(userID, { audience, expiration } = {}) {
      const jwtKeys = audience === undefined ? defaultKeys : new JWTKeys({ ...keys, issuer, audience })
      return jwtKeys.sign(new SessionToken(userID, expiration))
    },
  }
}

function secretKeys(): [Record<string, string>, { secrets: string[] }] {
  return [{ JWT_SECRET: secret }, { secrets: [secret] }]
}

function pairKeys(algorithm: Algorithm, name: string): [Record<string, string>, { keys: string[] }] {
  const { privateKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('ed25519')
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const path = join(folder, `${name}.pem`)
  writeFileSync(path, pem, { mode: 0o600 })
  return [{ JWT_KEYS: path }, { keys: [pem] }]
}
