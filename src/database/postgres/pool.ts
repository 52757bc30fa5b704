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
  connect(callback?: () => void): Promise<PoolClient>
}

/** A connection of the pool. */
export interface PoolClient {
  query(
    statement: string | { readonly text: string; readonly name?: string },
    values?: readonly unknown[],
  ): Promise<PostgresQueryResult<never>>
  end(): Promise<void>
}

// The codes of a statement that took too long: the time limits of the server.
const timeLimits = ['55P03', '57014']

/**
 * A class of connections that reject statements with NUL. They end after a time-out, because the response may still come, and if
 * their server has become read-only, because another one is the primary. The pool then opens another connection. A prepared look-up
 * gets the error of `pg` unless it took too long, so that `prepared()` repeats it with MikroORM.
 * @param fail throws MikroORM's error instead of that of `pg`
 */
export function guardedClient(Client: Pool['Client'], fail: (error: unknown) => never): Pool['Client'] {
  return class GuardedClient extends Client {
    override query(...args: Parameters<PoolClient['query']>) {
      // A stream, such as one of `COPY`, is no promise.
      return 'submit' in Object(args[0]) ? super.query(...args) : this.#guarded(...args)
    }

    async #guarded(...args: Parameters<PoolClient['query']>) {
      const { text, name = undefined } = typeof args[0] === 'string' ? { text: args[0] } : args[0]
      try {
        // A NUL would end the statement early, in the middle of a value.
        if (text.includes('\0'))
          throw Object.assign(new Error('A text cannot contain NUL.'), { code: '22021' })
        return await timed(() => super.query(...args))
      } catch (error) {
        const isLate = error instanceof Error && error.message === 'Query read timeout'
        if (isLate || errorCode(error) === '25006') void this.end()
        if (name !== undefined && !isLate && !timeLimits.includes(errorCode(error))) throw error
        return fail(error)
      }
    }
  }
}
