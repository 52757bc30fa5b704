import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'

/** What Kysely takes for a connection of its own: whose statements they are, on the one that all requests share. */
export class Handle implements DatabaseConnection {
  hasBegun = false
  readonly #execute: (handle: Handle, query: CompiledQuery) => Promise<QueryResult<never>>

  constructor(execute: (handle: Handle, query: CompiledQuery) => Promise<QueryResult<never>>) {
    this.#execute = execute
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#execute(this, query)
  }

  /** All at once: rows that are still to come would keep the connection from everybody else. */
  async *streamQuery<Row>(query: CompiledQuery): AsyncIterableIterator<QueryResult<Row>> {
    yield await this.executeQuery<Row>(query)
  }
}
