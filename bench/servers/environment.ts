import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The settings of all servers: where to listen, the database, and the keys of signed tokens. */
export const port = Number(process.env.PORT)
export const host = '127.0.0.1'
export const databaseURL = process.env.DATABASE_URL ?? ''
export const isPostgres = databaseURL.startsWith('postgres')
export const databasePath = databaseURL.replace(/^sqlite:/, '')
/** The pages of a SQLite file that a process keeps in memory, in kibibytes: as many as the site does. */
export const cacheSize = 256 * 1024
/** The number of connections to PostgreSQL, as the site has it. */
export const poolSize = 10
export const issuer = 'koa-authenticators'
export type Algorithm = 'HS256' | 'ES256' | 'EdDSA'
export const algorithm = (process.env.JWT_ALGORITHM ?? 'HS256') as Algorithm
export const jwtSecret = process.env.JWT_SECRET ?? ''
export const jwtPrivateKey = process.env.JWT_KEYS ? readFileSync(process.env.JWT_KEYS, 'utf8') : undefined

/** The key that verifies. */
export const jwtKey: KeyObject = jwtPrivateKey
  ? createPublicKey(createPrivateKey(jwtPrivateKey))
  : createSecretKey(Buffer.from(jwtSecret))

/** The same key as PEM, or the secret. */
export const jwtKeyText: string = jwtPrivateKey
  ? String(jwtKey.export({ type: 'spki', format: 'pem' }))
  : jwtSecret
