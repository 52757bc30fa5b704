import type { Configuration } from '@mikro-orm/core'
import { AbstractSqlDriver, PostgreSqlConnection, PostgreSqlPlatform } from '@mikro-orm/postgresql'
import type { PostgresDialect, PostgresPool, PostgresQueryResult } from 'kysely'
import { errorCode } from '../database-error.ts'
import { KyselyPostgresDriver } from './kysely-postgres-driver.ts'
import { guardedClient, type Pool } from './pool.ts'

// The codes of `pg` and of the server (`lock_timeout`, `statement_timeout`).
const timeLimits = ['time limit', '55P03', '57014']

/** MikroORM's PostgreSQL driver with a pool that keeps no broken connection. */
export class PooledPostgresDriver extends AbstractSqlDriver {
  constructor(config: Configuration) {
    super(config, new PostgreSqlPlatform(), PooledPostgresConnection, ['kysely', 'pg'])
  }
}

class PooledPostgresConnection extends PostgreSqlConnection {
  #pool: Pool | undefined
  #timeouts = 0

  /**
   * Runs a query for the prepared look-ups of `src/auth`. After an error that is not MikroORM's, `src/auth` repeats the query with
   * MikroORM.
   * @throws MikroORM's error after a timeout or without a connection, otherwise an error with the code of `pg`
   */
  async ask(query: { readonly text: string }): Promise<PostgresQueryResult<never> | undefined> {
    const client = await this.#pool?.connect().catch(this.#fail)
    try {
      return [await client?.query(query)].flat().at(-1)
    } catch (error) {
      const code = errorCode(error)
      throw timeLimits.includes(code) ? error : Object.assign(new Error('', { cause: error }), { code })
    } finally {
      client?.release()
    }
  }

  /** The numbers of connections, of statements that wait for one, and of those that have got none in time. */
  get poolState() {
    const { totalCount = 0, idleCount: idle = 0, waitingCount: waiting = 0 }: Partial<Pool> = this.#pool ?? {}
    return { used: totalCount - idle, idle, waiting, timeouts: this.#timeouts }
  }

  /** Whether the server responds and takes writes, which a standby does not. */
  override async isConnected(): Promise<boolean> {
    const query = "select 1 where current_setting('transaction_read_only') = 'off'"
    const read = () => this.execute<object[]>(query)
    return (
      this.connected &&
      read().then(
        (rows) => rows.length > 0,
        () => false,
      )
    )
  }

  override createKyselyDialect(options: object): PostgresDialect {
    const onPoolCreated = (pool: Pool) => {
      this.#pool = pool
      pool.Client = guardedClient(pool.Client, this.#fail)
    }
    // A hook of MikroORM that is missing in the type of its options.
    const dialect = super.createKyselyDialect({ ...options, onPoolCreated } as object)
    dialect.createDriver = () => new KyselyPostgresDriver(this.#pool as object as PostgresPool, this.#fail)
    return dialect
  }

  // MikroORM itself converts only the errors of the entity manager.
  readonly #fail = (error: unknown): never => {
    if (!(error instanceof Error)) throw error
    if (/timeout exceeded when trying to connect|connection timeout/.test(error.message)) this.#timeouts += 1
    // The time-outs of `pg` have no code, and the log contains no message of a database error.
    if (!('code' in error) && /time-?out/i.test(error.message)) Object.assign(error, { code: 'time limit' })
    throw this.platform.getExceptionConverter().convertException(error)
  }
}
