import { join, resolve } from 'node:path'
import { isPostgresUrl } from '../database/database-url.ts'
import { Environment, type Kind, oneOf, type Variables, wholeNumber } from './environment.ts'

/** The part of the configuration that concerns accounts at rest. */
export interface StorageConfig {
  readonly production: boolean
  readonly dataDir: string
  /** `sqlite:` and an absolute path, or `postgres:` with whatever opens that database, a password among it. */
  readonly databaseUrl: string
  /** How many connections to PostgreSQL there are at most. */
  readonly databasePool: number
  readonly bcryptCost: number
}

/**
 * Reads only where accounts are kept and how passwords are hashed, for commands that serve nobody.
 * @throws {ConfigError} with every mistake at once
 */
export function readStorageConfig(variables: Variables = process.env): StorageConfig {
  const environment = new Environment(variables)
  const storage = readStorage(environment)
  environment.throwMistakes()
  return Object.freeze(storage)
}

/** The same, for a reader that goes on to other variables. */
export function readStorage(environment: Environment): StorageConfig {
  const profile = environment.read('NODE_ENV', oneOf('development', 'production', 'test'), 'development')
  const production = profile === 'production'
  const dataDir = resolve(environment.text('DATA_DIR') ?? 'data')

  return {
    production,
    dataDir,
    databaseUrl: environment.read('DATABASE_URL', database, `sqlite:${join(dataDir, 'site.sqlite')}`),
    // One keeps other processes waiting while another migrates.
    databasePool: environment.read('DATABASE_POOL', wholeNumber(2, 1000), 10),
    bcryptCost: environment.read('BCRYPT_COST', wholeNumber(production ? 10 : 4, 15), 12),
  }
}

const database: Kind<string> = {
  takes: 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
  parse: (text) => (isPostgresUrl(text) ? postgresUrl(text) : sqliteUrl(text)),
}

function sqliteUrl(text: string): string | undefined {
  const path = text.startsWith('sqlite:') ? text.slice('sqlite:'.length) : ''
  if (path === ':memory:') return text
  return path === '' ? undefined : `sqlite:${resolve(path)}`
}

// How the connection is encrypted is all that it may say behind the database: what we do not know would be left out
// without a word.
function postgresUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.hostname === '' || url.hash !== '' || !/^\/[^/]+$/.test(url.pathname)) return undefined
  const isKnown = [...url.searchParams].every(([name, value]) => name === 'sslmode' && sslModes.has(value))
  return isKnown && areEscaped(url) ? text : undefined
}

const sslModes = new Set(['disable', 'require', 'verify-full', 'no-verify'])

function areEscaped({ username, password, hostname, pathname }: URL): boolean {
  try {
    return [username, password, hostname, pathname].every((part) => !decodeURIComponent(part).includes('\0'))
  } catch {
    return false
  }
}
