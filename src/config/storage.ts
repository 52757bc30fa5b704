import { join, resolve } from 'node:path'
import { Environment, type Kind, oneOf, type Variables, wholeNumber } from './environment.ts'

/** The part of the configuration that concerns accounts at rest. */
export interface StorageConfig {
  readonly production: boolean
  readonly dataDir: string
  /** `sqlite:` and an absolute path. */
  readonly databaseUrl: string
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
    databaseUrl: readDatabaseUrl(environment) ?? `sqlite:${join(dataDir, 'site.sqlite')}`,
    bcryptCost: environment.read('BCRYPT_COST', wholeNumber(production ? 10 : 4, 15), 12),
  }
}

function readDatabaseUrl(environment: Environment): string | undefined {
  const isPostgres = /^postgres(ql)?:/.test(environment.text('DATABASE_URL') ?? '')
  if (!isPostgres) return environment.read('DATABASE_URL', sqliteUrl, undefined)

  environment.mistake(
    'DATABASE_URL',
    'names a PostgreSQL database, which is not supported yet: use sqlite:PATH',
  )
  return undefined
}

const sqliteUrl: Kind<string> = {
  takes: 'sqlite:PATH',
  parse(text) {
    const path = text.startsWith('sqlite:') ? text.slice('sqlite:'.length) : ''
    if (path === ':memory:') return text
    return path === '' ? undefined : `sqlite:${resolve(path)}`
  },
}
