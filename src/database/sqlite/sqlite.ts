import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { makeDirectory } from '../../config/make-directory.ts'
import { DatabaseError, errorCode } from '../database-error.ts'
import type { Dialect } from '../database-options.ts'
import { databaseName } from '../database-url.ts'
import { RetryQueue } from './retry-queue.ts'
import { SharedSqliteDriver } from './sqlite-driver.ts'

// Long, because several processes may start at the same time and migrate one after another.
const lockTimeout = 8_000

/** The dialect of an SQLite file, which is created at the first start. */
export function sqlite(databaseUrl: string): Dialect {
  const path = databaseName(databaseUrl)
  return {
    options: { driver: SharedSqliteDriver, dbName: path },
    lockMigrations: () => lockMigrations(path),
    explain: (error) => explain(`The database ${path} cannot be used`, error),
  }
}

// An exclusive transaction on a separate file, because the operating system releases its lock when the process dies.
async function lockMigrations(path: string): Promise<() => void> {
  if (path === ':memory:') return () => {}
  try {
    makeDirectory(dirname(path))
    const lock = new Database(`${path}-migrating`, { timeout: 0 })
    await new RetryQueue(lockTimeout).retryWhileBusy(() => lock.exec('begin exclusive'))
    return () => void lock.close()
  } catch (error) {
    throw new DatabaseError(explain(`The database ${path} cannot be opened`, error), { cause: error })
  }
}

function explain(problem: string, error: unknown): string {
  const code = errorCode(error)
  return `${problem}: ${code}. ${remedies[code] ?? 'Check its path, and the permissions of the file and its folder.'}`
}

const remedies: Partial<Record<string, string>> = {
  SQLITE_BUSY: 'Another process has locked it. Stop that process, or try again later.',
  SQLITE_CORRUPT: 'The file is damaged. Restore a backup.',
  SQLITE_FULL: 'The disk is full. Free some space.',
  SQLITE_NOTADB: 'The file is not an SQLite database. Correct the path, or restore a backup.',
}
