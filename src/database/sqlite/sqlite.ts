import { errorCode } from '../database-error.ts'
import { type Dialect, type PoolOptions, usualTimeout } from '../database-options.ts'
import { databaseName } from '../database-url.ts'
import { SharedSqliteDriver } from './sqlite-driver.ts'

/** The dialect of an SQLite file, which is created at the first start. */
export function sqlite(databaseUrl: string, { timeout = usualTimeout }: PoolOptions = {}): Dialect {
  const path = databaseName(databaseUrl)
  return {
    options: { driver: SharedSqliteDriver, dbName: path, driverOptions: { timeout } },
    explain: (error) => explain(`The database ${path} cannot be used`, error),
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
