import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { makeDirectory } from '../../config/make-directory.ts'
import { DatabaseError } from '../database-error.ts'
import { databaseName } from '../database-url.ts'
import type { Dialect } from '../dialect.ts'
import { errorCode } from '../error-code.ts'
import { Patience } from './patience.ts'
import { PatientSqliteDriver } from './patient-sqlite.ts'

// Others that start at the same time come first, one after the other.
const longestWait = 5_000

/** A file, which is made at the first start. */
export function sqlite(databaseUrl: string): Dialect {
  const path = databaseName(databaseUrl)
  return {
    options: { driver: PatientSqliteDriver, dbName: path },
    lockMigrations: () => lockMigrations(path),
    explain: (error) => `The database ${path} cannot be used: ${errorCode(error)}.`,
  }
}

// A lock that the system lets go of when the process dies: an exclusive transaction on a file of its own.
async function lockMigrations(path: string): Promise<() => void> {
  if (path === ':memory:') return () => {}
  try {
    makeDirectory(dirname(path))
    const lock = new Database(`${path}-migrating`, { timeout: 0 })
    await new Patience(longestWait).run(() => lock.exec('begin exclusive'))
    return () => void lock.close()
  } catch (error) {
    throw new DatabaseError(`The database ${path} cannot be opened: ${errorCode(error)}.`, { cause: error })
  }
}
