import Database from 'better-sqlite3'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import type { DatabaseFile } from './database-file.ts'
import { OpenTransaction } from './open-transaction.ts'
import { RetryQueue } from './retry-queue.ts'
import { VirtualConnection } from './virtual-connection.ts'

const busyTimeout = 2_000
// How long a read may trust the last check of the file, in milliseconds. This saves three system calls for each read.
const readTolerance = 1_000

/**
 * A Kysely driver for one SQLite connection that all requests share. A transaction has exclusive use of the connection. It
 * takes the write lock at its start, so that no lock of another process can make it fail later. A call that waits for the
 * lock of another process blocks no reads.
 */
export class KyselySqliteDriver implements Driver {
  readonly #database: Database.Database
  readonly #convertError: (error: Error) => Error
  readonly #queue = new RetryQueue(busyTimeout)
  #file: DatabaseFile | undefined
  #transaction: OpenTransaction | undefined
  #isClosed = false

  /** @param convertError maps errors of better-sqlite3 to MikroORM's */
  constructor(database: Database.Database, convertError: (error: Error) => Error) {
    this.#database = database
    this.#convertError = convertError
  }

  /** Starts to check the file: before each transaction, commit and single write, and at most once a second before a single read. */
  watch(file: DatabaseFile): void {
    this.#file = file
  }

  /** Throws if a caller must not query the client directly: in a transaction, after `destroy`, or if the file is not in place. */
  assertReadable(client: object): void {
    if (this.#isClosed || client !== this.#database) throw new Error('The connection is closed.')
    if (this.#transaction) throw new Error('A transaction is open.')
    this.#file?.assertInPlace(readTolerance)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new VirtualConnection((connection, query) => this.#execute(connection, query))
  }

  async releaseConnection(): Promise<void> {}

  async beginTransaction(connection: VirtualConnection): Promise<void> {
    connection.hasBegun = true
    await this.#outsideTransactions(() => {
      this.#file?.assertInPlace()
      this.#database.exec('begin immediate')
      this.#transaction = new OpenTransaction(connection, () => this.#rollBack())
    })
  }

  async commitTransaction(connection: VirtualConnection): Promise<void> {
    this.#inTransaction(connection, () => {
      this.#file?.assertInPlace()
      this.#database.exec('commit')
      this.#end()
    })
  }

  async rollbackTransaction(connection: VirtualConnection): Promise<void> {
    if (this.#transaction?.owner === connection) this.#rollBack()
  }

  async savepoint(connection: VirtualConnection, name: string): Promise<void> {
    this.#inTransaction(connection, () => this.#database.exec(`savepoint ${name}`))
  }

  async rollbackToSavepoint(connection: VirtualConnection, name: string): Promise<void> {
    this.#inTransaction(connection, () => this.#database.exec(`rollback to ${name}`))
  }

  async releaseSavepoint(connection: VirtualConnection, name: string): Promise<void> {
    this.#inTransaction(connection, () => this.#database.exec(`release ${name}`))
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    // If the index of the write-ahead log is lost, closing the connection could delete the log with commits of other processes.
    if (!this.#file?.hasLostIndex()) this.#database.close()
  }

  async #execute(connection: VirtualConnection, query: CompiledQuery): Promise<QueryResult<never>> {
    if (connection.hasBegun)
      return this.#inTransaction(connection, () => run(this.#database.prepare(query.sql), query))
    return this.#outsideTransactions(() => {
      const statement = this.#database.prepare(query.sql)
      this.#file?.assertInPlace(statement.readonly ? readTolerance : 0)
      return run(statement, query)
    })
  }

  async #outsideTransactions<Result>(work: () => Result): Promise<Result> {
    while (this.#transaction) await this.#transaction.ended
    return this.#queue.retryWhileBusy(() =>
      this.#withConvertedErrors(() => {
        if (this.#transaction) throw new Database.SqliteError('database is locked', 'SQLITE_BUSY')
        return work()
      }),
    )
  }

  #inTransaction<Result>(connection: VirtualConnection, work: () => Result): Result {
    return this.#withConvertedErrors(() => {
      if (this.#transaction?.owner !== connection) throw new Error('This transaction is over.')
      this.#transaction.restartTimeout()
      return work()
    })
  }

  #rollBack(): void {
    try {
      // SQLite itself rolls back after some errors, for example on a full disk.
      if (this.#database.inTransaction) this.#database.exec('rollback')
    } finally {
      this.#end()
    }
  }

  #end(): void {
    this.#transaction?.end()
    this.#transaction = undefined
  }

  #withConvertedErrors<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      throw error instanceof Error ? this.#convertError(error) : error
    }
  }
}

function run(statement: Database.Statement, { parameters }: CompiledQuery): QueryResult<never> {
  // Kysely's types leave the shape of the rows to the caller.
  if (statement.reader) return { rows: statement.all(parameters) as never[] }
  const { changes, lastInsertRowid } = statement.run(parameters)
  return { insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes), rows: [] }
}
