import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'

type Execute = (connection: VirtualConnection, query: CompiledQuery) => Promise<QueryResult<never>>

/** A connection as Kysely sees it. All of them share one SQLite connection; each may own the open transaction. */
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
