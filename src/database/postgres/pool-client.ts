import type { PostgresQueryResult } from 'kysely'

/** The pool of `pg`. */
export interface Pool {
  readonly options: object
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

export interface PoolClient {
  query(query: PostgresQuery): Promise<PostgresResult | PostgresResult[]>
  /** @param destroy whether the pool closes the connection */
  release(destroy?: boolean): void
}

/** A query of `pg`. Each connection prepares a named query once. */
export interface PostgresQuery {
  readonly text: string
  readonly name?: string
  readonly values?: readonly unknown[]
}

export type PostgresResult = PostgresQueryResult<never>

/**
 * A connection of the pool. It is closed on release after a time-out, because the response may still come, and if its server has become
 * read-only, because another one is the primary.
 */
export class TimedClient {
  readonly #client: PoolClient
  #isUseless = false

  constructor(client: PoolClient) {
    this.#client = client
  }

  /** Throws the errors of `pg`. */
  async query(query: PostgresQuery): Promise<PostgresResult> {
    // A NUL would end the statement early, in the middle of a value.
    if (query.text.includes('\0'))
      throw Object.assign(new Error('A text cannot contain NUL.'), { code: '22021' })
    try {
      const result = await this.#client.query(query)
      // A text of several statements has several results.
      return [result].flat().at(-1) as PostgresResult
    } catch (error) {
      if (isTimeout(error) || codeOf(error) === '25006') this.#isUseless = true
      throw error
    }
  }

  release(): void {
    this.#client.release(this.#isUseless)
  }
}

/** Whether `pg` or the server gave up waiting. */
export function isAnyTimeout(error: unknown): boolean {
  return isTimeout(error) || ['55P03', '57014'].includes(codeOf(error))
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
