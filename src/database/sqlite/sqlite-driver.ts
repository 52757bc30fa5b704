import { dirname } from 'node:path'
import type { Configuration } from '@mikro-orm/core'
import { AbstractSqlDriver, SqliteConnection, SqlitePlatform } from '@mikro-orm/sqlite'
import type Database from 'better-sqlite3'
import { type Dialect, SqliteAdapter } from 'kysely'
import { makeDirectory } from '../make-directory.ts'
import { KyselySqliteDriver } from './kysely-sqlite-driver.ts'

/** MikroORM's SQLite driver with one shared connection, which waits for locks without blocking the event loop. */
export class SharedSqliteDriver extends AbstractSqlDriver {
  constructor(config: Configuration) {
    super(config, new SqlitePlatform(), SharedSqliteConnection, ['kysely', 'better-sqlite3'])
  }
}

export class SharedSqliteConnection extends SqliteConnection {
  /** Allows prepared look-ups, which use the native client. */
  readonly sharesNativeClient = true

  override async connect(options?: { skipOnConnect?: boolean }): Promise<void> {
    makeDirectory(dirname(this.config.get('dbName')))
    await super.connect(options)
    await this.execute('pragma journal_mode = wal')
    await this.execute('pragma synchronous = normal')
    // 64 MiB for each process. SQLite allocates the memory as it reads pages.
    await this.execute('pragma cache_size = -65536')
  }

  /** Whether the file can be read. `select 1` would not read it. */
  override async isConnected(): Promise<boolean> {
    const read = () => this.execute('select count(*) from sqlite_schema')
    return this.connected && read().then(Boolean, () => false)
  }

  override createKyselyDialect({ timeout, ...options }: { readonly timeout: number }): Dialect {
    // The driver is synchronous, so SQLite's busy timeout would block the event loop.
    const dialect = super.createKyselyDialect({ ...options, timeout: 0 })
    // `getNativeClient` works only after the connection is set up.
    const database: Database.Database = Reflect.get(this, 'database')
    const converter = this.platform.getExceptionConverter()
    dialect.createDriver = () =>
      new KyselySqliteDriver(database, timeout, (error) => converter.convertException(error))
    // Turns off Kysely's mutex, which it never releases after a transaction that fails to begin or to roll back.
    dialect.createAdapter = () =>
      Object.defineProperty(new SqliteAdapter(), 'supportsMultipleConnections', { value: true })
    return dialect
  }
}
