import Database from 'better-sqlite3'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import type { DatabaseFile } from './database-file.ts'
import { Handle } from './handle.ts'
import { OpenTransaction } from './open-transaction.ts'
import { Patience } from './patience.ts'

const patience = 2_000
// A read may notice so much later that the file is gone.
const tolerance = 1_000

/**
 * Kysely's driver for the one connection that all requests share. A statement stands for itself; a transaction has the
 * connection to itself, and takes the lock for writing when it begins, so that no other process can make it fail half-way.
 * Whoever waits for another process holds nothing meanwhile: reads go on, and so does the event loop.
 */
export class SharedDatabase implements Driver {
  readonly #database: Database.Database
  readonly #convert: (error: Error) => Error
  readonly #patience = new Patience(patience)
  #file: DatabaseFile | undefined
  #transaction: OpenTransaction | undefined
  #isClosed = false

  /** @param convert makes of the driver's errors what callers expect */
  constructor(database: Database.Database, convert: (error: Error) => Error) {
    this.#database = database
    this.#convert = convert
  }

  /** From now on, nothing is committed unless this file is in its place. */
  watch(file: DatabaseFile): void {
    this.#file = file
  }

  /** Throws where nobody may read past this by that client: in a transaction, when the file is gone, or when it is closed. */
  assertReadable(client: object): void {
    this.#assertFree(client)
    this.#file?.assertInPlace(tolerance)
  }

  /** The same for whoever would write. */
  assertWritable(client: object): void {
    this.#assertFree(client)
    this.#file?.assertInPlace()
  }

  #assertFree(client: object): void {
    if (this.#isClosed || client !== this.#database) throw new Error('The connection is closed.')
    if (this.#transaction) throw new Error('A transaction is open.')
  }

  async init(): Promise<void> {}

  /** A handle; there may be many, and one that is never released keeps nobody waiting. */
  async acquireConnection(): Promise<DatabaseConnection> {
    return new Handle((handle, query) => this.#execute(handle, query))
  }

  async releaseConnection(): Promise<void> {}

  async beginTransaction(handle: Handle): Promise<void> {
    handle.hasBegun = true
    await this.#alone(() => {
      this.#file?.assertInPlace()
      this.#database.exec('begin immediate')
      this.#transaction = new OpenTransaction(handle, () => this.#rollBack())
    })
  }

  async commitTransaction(handle: Handle): Promise<void> {
    this.#within(handle, () => {
      this.#file?.assertInPlace()
      this.#database.exec('commit')
      this.#end()
    })
  }

  async rollbackTransaction(handle: Handle): Promise<void> {
    if (this.#transaction?.handle === handle) this.#rollBack()
  }

  async savepoint(handle: Handle, name: string): Promise<void> {
    this.#within(handle, () => this.#database.exec(`savepoint ${name}`))
  }

  async rollbackToSavepoint(handle: Handle, name: string): Promise<void> {
    this.#within(handle, () => this.#database.exec(`rollback to ${name}`))
  }

  async releaseSavepoint(handle: Handle, name: string): Promise<void> {
    this.#within(handle, () => this.#database.exec(`release ${name}`))
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    // SQLite would delete the log at last, and with it what others have added there. Left open, it is kept for them.
    if (!this.#file?.hasLostIndex()) this.#database.close()
  }

  async #execute(handle: Handle, query: CompiledQuery): Promise<QueryResult<never>> {
    if (handle.hasBegun)
      return this.#within(handle, () => this.#run(this.#database.prepare(query.sql), query))
    return this.#alone(() => {
      const statement = this.#database.prepare(query.sql)
      this.#file?.assertInPlace(statement.readonly ? tolerance : 0)
      return this.#run(statement, query)
    })
  }

  /** Work that no transaction of ours may have any part in. */
  async #alone<Result>(work: () => Result): Promise<Result> {
    while (this.#transaction) await this.#transaction.ended
    return this.#patience.run(() =>
      this.#converted(() => {
        if (this.#transaction) throw new Database.SqliteError('database is locked', 'SQLITE_BUSY')
        return work()
      }),
    )
  }

  #within<Result>(handle: Handle, work: () => Result): Result {
    return this.#converted(() => {
      if (this.#transaction?.handle !== handle) throw new Error('This transaction is over.')
      this.#transaction.goOn()
      return work()
    })
  }

  #run(statement: Database.Statement, { parameters }: CompiledQuery): QueryResult<never> {
    // Kysely leaves it to its caller to know the rows.
    if (statement.reader) return { rows: statement.all(parameters) as never[] }
    const { changes, lastInsertRowid } = statement.run(parameters)
    return { insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes), rows: [] }
  }

  #rollBack(): void {
    try {
      // A full disk, among others, has SQLite roll back by itself.
      if (this.#database.inTransaction) this.#database.exec('rollback')
    } finally {
      this.#end()
    }
  }

  #end(): void {
    this.#transaction?.end()
    this.#transaction = undefined
  }

  #converted<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      throw error instanceof Error ? this.#convert(error) : error
    }
  }
}
