import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type DatabaseConnection, SqliteDriver } from 'kysely'
import { timed } from '../statements.ts'

// In milliseconds. A statement that waits for a transaction of this process waits longer than one for another process.
const longestPause = 20
const transactionTime = 3_000

interface OpenTransaction {
  readonly connection: DatabaseConnection
  readonly ended: PromiseWithResolvers<void>
  readonly timer: NodeJS.Timeout
}

/**
 * Kysely's driver for SQLite, whose statements and transactions share one connection. A transaction takes the write lock when it
 * begins, so that it cannot fail later because of another process. While it is open, the other statements of this process wait. While
 * another process writes, a write is retried without blocking the event loop.
 */
export class KyselySqliteDriver extends SqliteDriver {
  readonly #database: Database.Database
  readonly #timeout: number
  readonly #convertError: (error: Error) => Error
  #transaction: OpenTransaction | undefined

  /**
   * @param timeout how long a statement waits for another process, in milliseconds
   * @param convertError maps errors of better-sqlite3 to MikroORM's
   */
  constructor(database: Database.Database, timeout: number, convertError: (error: Error) => Error) {
    super({ database })
    this.#database = database
    this.#timeout = timeout
    this.#convertError = convertError
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const shared = await super.acquireConnection()
    // An object of its own for each transaction tells its statements from those of others.
    const connection: DatabaseConnection = {
      executeQuery: (query) => this.#run(connection, () => shared.executeQuery(query)),
      async *streamQuery(query) {
        // An open cursor would block the connection.
        yield await this.executeQuery(query)
      },
    }
    return connection
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await this.#run(connection, async () => {
      this.#database.exec('begin immediate')
      const ended = Promise.withResolvers<void>()
      ended.promise.catch(() => {})
      const fail = () => ended.reject(new Database.SqliteError('database is locked', 'SQLITE_BUSY'))
      const timer = setTimeout(fail, this.#timeout + transactionTime).unref()
      this.#transaction = { connection, ended, timer }
    })
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await this.#run(connection, async () => void this.#database.exec('commit'))
    this.#end()
  }

  override async rollbackTransaction(): Promise<void> {
    try {
      // SQLite itself rolls back after some errors, for example on a full disk.
      if (this.#database.inTransaction) this.#database.exec('rollback')
    } finally {
      this.#end()
    }
  }

  #end(): void {
    clearTimeout(this.#transaction?.timer)
    this.#transaction?.ended.resolve()
    this.#transaction = undefined
  }

  /** Runs a call of better-sqlite3, which is synchronous, so that no other statement comes between the checks and the call. */
  #run<Result>(connection: DatabaseConnection, work: () => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + this.#timeout
    return timed(async () => {
      for (let pause = 1; ; pause = Math.min(2 * pause, longestPause)) {
        try {
          while (this.#transaction && this.#transaction.connection !== connection)
            await this.#transaction.ended.promise
          return await work()
        } catch (error) {
          const isOwn = this.#transaction?.connection === connection
          if (!isBusy(error) || isOwn || performance.now() >= deadline)
            throw error instanceof Error ? this.#convertError(error) : error
        }
        await sleep(pause)
      }
    })
  }
}

/** Whether the database is locked. Includes extended codes such as `SQLITE_BUSY_RECOVERY`. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
