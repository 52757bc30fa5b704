import type { CompiledQuery, DatabaseConnection, PostgresQueryResult, QueryResult } from 'kysely'
import type { CircuitBreaker } from './circuit-breaker.ts'

// Slightly longer than `statement_timeout`, so that the server reports the timeout if it can.
const queryTimeout = 2_500
const maxAttempts = 3

export interface PoolClient {
  query(query: PostgresQuery): Promise<PostgresResult | PostgresResult[]>
  /** @param destroy whether the pool closes the connection */
  release(destroy?: boolean): void
  readonly connection: { readonly stream: { destroy(): void } }
}

/** A query of `pg`. Each connection prepares a named query once. */
export interface PostgresQuery {
  readonly text: string
  readonly name?: string
  /** In milliseconds. */
  query_timeout?: number
}

export type PostgresResult = PostgresQueryResult<unknown>

export interface ConnectionPool {
  readonly breaker: CircuitBreaker
  readonly hasTimeouts: boolean
  /** Maps errors of `pg` to MikroORM's. */
  readonly convertError: (error: Error) => Error
}

/** A connection from the pool. A broken connection, for example after a timeout, is closed on release. */
export class PooledConnection implements DatabaseConnection {
  isInTransaction = false
  readonly #client: PoolClient
  readonly #pool: ConnectionPool
  #isBroken = false
  #isReleased = false

  constructor(client: PoolClient, pool: ConnectionPool) {
    this.#client = client
    this.#pool = pool
  }

  async executeQuery<Row>({ sql }: Pick<CompiledQuery, 'sql'>): Promise<QueryResult<Row>> {
    // MikroORM writes the values into the statement.
    const { command, rowCount, rows } = await this.#queryWithRetries(sql)
    const isChange = /^(insert|update|delete|merge)$/i.test(command)
    // Kysely's types leave the shape of the rows to the caller.
    return { rows: rows as Row[], ...(isChange && { numAffectedRows: BigInt(rowCount) }) }
  }

  /** Yields all rows at once, because the site reads no large result. */
  async *streamQuery<Row>(query: CompiledQuery): AsyncIterableIterator<QueryResult<Row>> {
    yield await this.executeQuery<Row>(query)
  }

  /** Closes the connection on release, which rolls back its transaction. */
  markBroken(): void {
    this.#isBroken = true
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    if (this.#isBroken) closeClient(this.#client)
    else this.#client.release()
  }

  /** Runs a query once. Throws the errors of `pg`. */
  async query(query: PostgresQuery): Promise<PostgresResult> {
    // A NUL would end the statement early, in the middle of a value.
    if (query.text.includes('\0'))
      throw Object.assign(new Error('A text cannot contain NUL.'), { code: '22021' })
    if (this.#isBroken) throw Object.assign(new Error('The connection is broken.'), { code: 'ECONNRESET' })
    try {
      if (this.#pool.hasTimeouts) query.query_timeout = queryTimeout
      const result = await this.#client.query(query)
      this.#pool.breaker.close()
      return (Array.isArray(result) ? result.at(-1) : result) as PostgresResult
    } catch (error) {
      // After an error of severity ERROR the connection is still usable.
      const severity = error instanceof Error && 'severity' in error ? error.severity : undefined
      if (severity !== 'ERROR') this.#isBroken = true
      if (isTimeout(error)) this.#pool.breaker.open(error)
      throw error
    }
  }

  async #queryWithRetries(sql: string): Promise<PostgresResult> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.query({ text: sql })
      } catch (error) {
        // A single statement that lost a deadlock changed nothing, so it can be retried.
        const canRetry = !this.isInTransaction && hasCode(error, '40P01', '40001') && attempt < maxAttempts
        if (!canRetry) throw error instanceof Error ? this.#pool.convertError(error) : error
      }
    }
  }
}

/** Closes a connection immediately, because `pg` would wait for the response of a silent server. */
export function closeClient(client: PoolClient): void {
  client.release(true)
  client.connection.stream.destroy()
}

/** Whether `pg` gave up waiting for a response or for a new connection. */
export function isTimeout(error: unknown): error is Error {
  return (
    error instanceof Error &&
    /^(Query read timeout|Connection terminated due to connection timeout)$/.test(error.message)
  )
}

/** Whether `pg` or the server gave up waiting, including `lock_timeout` and `statement_timeout`. */
export function isAnyTimeout(error: unknown): error is Error {
  return isTimeout(error) || hasCode(error, '55P03', '57014')
}

function hasCode(error: unknown, ...codes: string[]): error is Error {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
