import { join, resolve } from 'node:path'
import { isPostgresUrl } from '../database/database-url.ts'
import { label } from './branding.ts'
import { decodePercent, type Environment, oneOf, type VariableType, wholeNumber } from './environment.ts'

/** The name of a site without `SITE_NAME` and `JWT_ISSUER`. The home page then demonstrates the package. */
export const defaultName = 'koa-authenticators'

/** The part of the configuration that commands need to change accounts. */
export type StorageConfig = ReturnType<typeof readStorage>

/** Reads the configuration of commands that start no server. */
export function readStorage(environment: Environment) {
  const profile = environment.read('NODE_ENV', oneOf('development', 'production', 'test'), 'development')
  const production = profile === 'production'
  const dataDir = resolve(environment.text('DATA_DIR') ?? 'data')
  return {
    profile,
    production,
    /** Commands need it, because the password rules reject a password that consists of this name. */
    siteName: environment.read('SITE_NAME', label(50), defaultName),
    dataDir,
    /** `sqlite:` and an absolute path, or a PostgreSQL URL, which may contain a password. */
    databaseUrl: environment.read('DATABASE_URL', database, `sqlite:${join(dataDir, 'site.sqlite')}`),
    // At least two, because the migration lock occupies one connection.
    databasePool: environment.read('DATABASE_POOL', wholeNumber(2, 1000), 10),
    bcryptCost: environment.read('BCRYPT_COST', wholeNumber(production ? 10 : 4, 15), 12),
  }
}

export const database: VariableType<string> = {
  expected: 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
  parse: (text) => (isPostgresUrl(text) ? postgresUrl(text) : sqliteUrl(text)),
}

function sqliteUrl(text: string): string | undefined {
  // With a colon, SQLite would open a database in memory.
  const [, path] = /^sqlite:([^:].*)$/.exec(text) ?? []
  return path && `sqlite:${resolve(path)}`
}

// Rejects unknown parameters, because the driver would silently ignore them.
function postgresUrl(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || url.hostname === '' || url.hash !== '' || !/^\/[^/]+$/.test(url.pathname)) return undefined
  const isKnown = [...url.searchParams].every(([name, value]) => name === 'sslmode' && sslModes.has(value))
  const parts = [url.username, url.password, url.hostname, url.pathname]
  return isKnown && parts.every((part) => decodePercent(part) !== undefined) ? text : undefined
}

const sslModes = new Set(['disable', 'require', 'verify-full', 'no-verify'])
