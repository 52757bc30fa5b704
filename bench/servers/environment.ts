import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isPostgresUrl } from '../../src/database/database-url.ts'

/** What every server is told: where to listen, whose rows to read, and how tokens are signed. */
export const port = Number(process.env.PORT)
export const host = '127.0.0.1'
export const databasePath = process.env.DATABASE ?? ''
export const databaseURL = process.env.DATABASE_URL ?? ''
export const isPostgres = isPostgresUrl(databaseURL)
/** How many connections to PostgreSQL there are at most, as the site has it. */
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

/** The same for libraries that take PEM, or the secret. */
export const jwtKeyText: string = jwtPrivateKey
  ? String(jwtKey.export({ type: 'spki', format: 'pem' }))
  : jwtSecret
/** Whether cookies are left unsigned, where a default would sign them: 256 random bits that are looked up need no signature. */
export const isUnsigned = process.env.UNSIGNED === 'on'
