import type { Configuration } from '@mikro-orm/core'
import { AbstractSqlDriver, SqliteConnection, SqlitePlatform } from '@mikro-orm/sqlite'
import type Database from 'better-sqlite3'
import type { Dialect } from 'kysely'
import { DatabaseFile } from './database-file.ts'
import { pageCacheSize } from './page-cache.ts'
import { SharedDatabase } from './shared-database.ts'

/** MikroORM's SQLite driver, which waits for a busy database without blocking the event loop. */
export class PatientSqliteDriver extends AbstractSqlDriver {
  constructor(config: Configuration) {
    super(config, new SqlitePlatform(), PatientSqliteConnection, ['kysely', 'better-sqlite3'])
  }
}

/** Its connection, which may be read and written past. */
export class PatientSqliteConnection extends SqliteConnection {
  #shared: SharedDatabase | undefined
  #file: DatabaseFile | undefined

  override async connect(options?: { skipOnConnect?: boolean }): Promise<void> {
    await super.connect(options)
    await this.execute('pragma journal_mode = wal')
    await this.execute('pragma synchronous = normal')
    await this.execute(`pragma cache_size = -${pageCacheSize()}`)
    const { name, memory } = await this.getNativeClient()
    if (memory) return
    await this.execute(something)
    this.#file = new DatabaseFile(name)
    this.#shared?.watch(this.#file)
  }

  /** Whether the database can be read, and is the one that was opened: `select 1` would not even look at it. */
  override async checkConnection(): ReturnType<SqliteConnection['checkConnection']> {
    if (!this.connected) return { ok: false, reason: 'the database is closed' }
    try {
      this.#file?.assertInPlace()
      await this.execute(something)
      return { ok: true }
    } catch (error) {
      return { ok: false, reason: 'the database cannot be used', error: error as Error }
    }
  }

  /** For `prepareRead`, which reads past the driver. */
  assertReadable(client: object): void {
    this.#shared?.assertReadable(client)
  }

  /** For `LastUses`, which writes past it. */
  assertWritable(client: object): void {
    this.#shared?.assertWritable(client)
  }

  // Kysely's own driver, in front of which it queues, would keep its place for a transaction that fails to begin or to
  // roll back, for ever.
  override createKyselyDialect(options: object): Dialect {
    // The driver is synchronous: while it waited for a lock, every other request would wait too.
    const dialect = super.createKyselyDialect({ ...options, timeout: 0 })
    // What `getNativeClient` hands out once all of this is connected.
    const database: Database.Database = Reflect.get(this, 'database')
    const converter = this.platform.getExceptionConverter()
    return {
      createDriver: () => {
        this.#shared = new SharedDatabase(database, (error) => converter.convertException(error))
        return this.#shared
      },
      createAdapter: () =>
        Object.defineProperty(dialect.createAdapter(), 'supportsMultipleConnections', { value: true }),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createIntrospector: (db) => dialect.createIntrospector(db),
    }
  }
}

const something = 'select count(*) from sqlite_schema'
