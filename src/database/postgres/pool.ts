import type { PostgresQueryResult } from 'kysely'
import { errorCode } from '../database-error.ts'
import { timed } from '../statements.ts'

/** The pool of `pg`. */
export interface Pool {
  /** The class of its connections. */
  Client: new (
    options: object,
  ) => PoolClient
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
  connect(): Promise<PoolClient>
}

/** A connection of the pool. The result of several statements in one text is an array. */
export interface PoolClient {
  query(
    statement: string | { readonly text: string },
    values?: readonly unknown[],
  ): Promise<PostgresQueryResult<never>>
  release(): void
  end(): Promise<void>
}

/**
 * A class of connections that reject statements with NUL. They end after a time-out, because the response may still come, and if
 * their server has become read-only, because another one is the primary. The pool then opens another connection.
 * @param fail throws MikroORM's error instead of that of `pg`
 */
export function guardedClient(Client: Pool['Client'], fail: (error: unknown) => never): Pool['Client'] {
  return class GuardedClient extends Client {
    override query(...args: Parameters<PoolClient['query']>) {
      // A stream, such as one of `COPY`, is no promise.
      return 'submit' in Object(args[0]) ? super.query(...args) : this.#guarded(...args)
    }

    async #guarded(...args: Parameters<PoolClient['query']>) {
      try {
        const text = typeof args[0] === 'string' ? args[0] : args[0].text
        // A NUL would end the statement early, in the middle of a value.
        if (text.includes('\0'))
          throw Object.assign(new Error('A text cannot contain NUL.'), { code: '22021' })
        return await timed(() => super.query(...args))
      } catch (error) {
        const isLate = error instanceof Error && error.message === 'Query read timeout'
        if (isLate || errorCode(error) === '25006') void this.end()
        return fail(error)
      }
    }
  }
}
