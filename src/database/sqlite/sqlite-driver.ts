import type { Configuration } from '@mikro-orm/core'
import { AbstractSqlDriver, SqliteConnection, SqlitePlatform } from '@mikro-orm/sqlite'
import type Database from 'better-sqlite3'
import type { Dialect } from 'kysely'
import { DatabaseFile } from './database-file.ts'
import { KyselySqliteDriver } from './kysely-sqlite-driver.ts'

// `select 1` would not read the file.
const readFile = 'select count(*) from sqlite_schema'

/** MikroORM's SQLite driver with one shared connection, which waits for locks without blocking the event loop. */
export class SharedSqliteDriver extends AbstractSqlDriver {
  constructor(config: Configuration) {
    super(config, new SqlitePlatform(), SharedSqliteConnection, ['kysely', 'better-sqlite3'])
  }
}

export class SharedSqliteConnection extends SqliteConnection {
  #driver: KyselySqliteDriver | undefined
  #file: DatabaseFile | undefined

  override async connect(options?: { skipOnConnect?: boolean }): Promise<void> {
    await super.connect(options)
    await this.execute('pragma journal_mode = wal')
    await this.execute('pragma synchronous = normal')
    // 64 MiB for each process. SQLite allocates the memory as it reads pages.
    await this.execute('pragma cache_size = -65536')
    const { name, memory } = await this.getNativeClient()
    if (memory) return
    await this.execute(readFile)
    this.#file = new DatabaseFile(name)
    this.#driver?.watch(this.#file)
  }

  /** Checks that the database can be read and that its file is the one that was opened. */
  override async checkConnection(): ReturnType<SqliteConnection['checkConnection']> {
    if (!this.connected) return { ok: false, reason: 'the database is closed' }
    try {
      this.#file?.assertInPlace()
      await this.execute(readFile)
      return { ok: true }
    } catch (error) {
      return { ok: false, reason: 'the database cannot be used', error: error as Error }
    }
  }

  /** Throws if a prepared look-up must not query the client directly, for example during a transaction. The look-up then uses `em.findOne`. */
  assertReadable(client: object): void {
    this.#driver?.assertReadable(client)
  }

  override createKyselyDialect(options: object): Dialect {
    // The driver is synchronous, so SQLite's busy timeout would block the event loop.
    const dialect = super.createKyselyDialect({ ...options, timeout: 0 })
    // `getNativeClient` works only after the connection is set up.
    const database: Database.Database = Reflect.get(this, 'database')
    const converter = this.platform.getExceptionConverter()
    dialect.createDriver = () => {
      this.#driver = new KyselySqliteDriver(database, (error) => converter.convertException(error))
      return this.#driver
    }
    // Turns off Kysely's mutex, which it never releases after a transaction that fails to begin or to roll back.
    const adapter = dialect.createAdapter()
    Object.defineProperty(adapter, 'supportsMultipleConnections', { value: true })
    dialect.createAdapter = () => adapter
    return dialect
  }
}
