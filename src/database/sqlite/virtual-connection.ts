import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'

type Execute = (connection: VirtualConnection, query: CompiledQuery) => Promise<QueryResult<never>>

/** A connection for Kysely. All virtual connections share one SQLite connection. At most one of them has an open transaction. */
export class VirtualConnection implements DatabaseConnection {
  hasBegun = false
  readonly #execute: Execute

  constructor(execute: Execute) {
    this.#execute = execute
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#execute(this, query)
  }

  /** Yields all rows at once, because an open cursor would block the shared connection. */
  async *streamQuery<Row>(query: CompiledQuery): AsyncIterableIterator<QueryResult<Row>> {
    yield await this.executeQuery<Row>(query)
  }
}
