import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'

// The settings of the servers in this folder.
export const port = Number(process.env.PORT)
export const host = '127.0.0.1'
export const databaseURL = process.env.DATABASE_URL ?? ''
export const isPostgres = databaseURL.startsWith('postgres')
export const databasePath = databaseURL.replace(/^sqlite:/, '')
/** The page cache of SQLite in kibibytes, as in the site. */
export const cacheSize = 64 * 1024
/** The number of PostgreSQL connections, as in the site. */
export const poolSize = 10
export const issuer = 'koa-authenticators'
export type Algorithm = 'HS256' | 'ES256' | 'EdDSA'
export const algorithm = (process.env.JWT_ALGORITHM ?? 'HS256') as Algorithm
export const jwtSecret = process.env.JWT_SECRET ?? ''
export const jwtPrivateKey = process.env.JWT_KEYS ? readFileSync(process.env.JWT_KEYS, 'utf8') : undefined

/** The key for verification. */
export const jwtKey: KeyObject = jwtPrivateKey
  ? createPublicKey(createPrivateKey(jwtPrivateKey))
  : createSecretKey(Buffer.from(jwtSecret))

/** The same key as PEM, or the secret. */
export const jwtKeyText: string = jwtPrivateKey
  ? String(jwtKey.export({ type: 'spki', format: 'pem' }))
  : jwtSecret
