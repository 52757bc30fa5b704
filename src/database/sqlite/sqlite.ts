import { type Dialect, migrationTimeout, type PoolOptions, usualTimeout } from '../database-options.ts'
import { databaseName } from '../database-url.ts'
import { SharedSqliteDriver } from './sqlite-driver.ts'

/** The dialect of an SQLite file, which is created at the first start. */
export function sqlite(databaseUrl: string, { timeout = usualTimeout }: PoolOptions = {}): Dialect {
  const common = { driver: SharedSqliteDriver, dbName: databaseName(databaseUrl) }
  return {
    options: { ...common, driverOptions: { timeout } },
    unlimitedOptions: { ...common, driverOptions: { timeout: Math.max(timeout, migrationTimeout) } },
  }
}
