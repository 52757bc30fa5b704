import type { Configuration } from '@mikro-orm/core'
import { AbstractSqlDriver, PostgreSqlConnection, PostgreSqlPlatform } from '@mikro-orm/postgresql'
import type { PostgresDialect } from 'kysely'
import { timed } from '../statements.ts'
import { KyselyPostgresDriver } from './kysely-postgres-driver.ts'
import {
  isAnyTimeout,
  type Pool,
  type PoolClient,
  type PostgresQuery,
  type PostgresResult,
  TimedClient,
} from './pool-client.ts'

/** MikroORM's PostgreSQL driver with a pool that keeps no broken connection. */
export class PooledPostgresDriver extends AbstractSqlDriver {
  constructor(config: Configuration) {
    super(config, new PostgreSqlPlatform(), PooledPostgresConnection, ['kysely', 'pg'])
  }
}

export class PooledPostgresConnection extends PostgreSqlConnection {
  #pool: Pool | undefined
  #timeouts = 0

  /**
   * Runs a query for the prepared look-ups of `src/auth`. After an error of `pg`, `src/auth` repeats the query with MikroORM.
   * @throws MikroORM's error after a timeout or without a connection, otherwise the error of `pg`
   */
  async ask(query: PostgresQuery): Promise<PostgresResult> {
    const client = new TimedClient(await this.#connectPool())
    try {
      return await timed(() => client.query(query))
    } catch (error) {
      throw isAnyTimeout(error) ? this.#convertError(error as Error) : error
    } finally {
      client.release()
    }
  }

  /** The numbers of connections, of statements that wait for one, and of those that have got none in time. */
  get poolState() {
    const { totalCount = 0, idleCount: idle = 0, waitingCount: waiting = 0 } = this.#pool ?? {}
    return { used: totalCount - idle, idle, waiting, timeouts: this.#timeouts }
  }

  /** Checks that the server responds and takes writes, which a standby does not. */
  override async checkConnection(): ReturnType<PostgreSqlConnection['checkConnection']> {
    if (!this.connected) return { ok: false, reason: 'the database is closed' }
    try {
      const [row] = await this.execute<{ readonly: string }[]>(
        "select current_setting('transaction_read_only') as readonly",
      )
      return row?.readonly === 'off' ? { ok: true } : { ok: false, reason: 'the database is read-only' }
    } catch (error) {
      return { ok: false, reason: 'the database cannot be used', error: error as Error }
    }
  }

  override createKyselyDialect(options: object): PostgresDialect {
    const dialect = super.createKyselyDialect({
      ...options,
      // A hook of MikroORM that is missing in the type of its options.
      onPoolCreated: (pool: Pool) => {
        this.#pool = pool
      },
    } as object)
    dialect.createDriver = () => {
      if (!this.#pool) throw new Error('MikroORM has created no pool.')
      return new KyselyPostgresDriver(this.#pool, (error) => this.#convertError(error))
    }
    return dialect
  }

  async #connectPool(): Promise<PoolClient> {
    if (!this.#pool) throw new Error('The database is not connected.')
    try {
      return await this.#pool.connect()
    } catch (error) {
      throw this.#convertError(error as Error)
    }
  }

  #convertError(error: Error): Error {
    if (/timeout exceeded when trying to connect|connection timeout/.test(error.message)) this.#timeouts += 1
    // The time-outs of `pg` have no code, and the log contains no message of a database error.
    if (!('code' in error) && /time-?out/i.test(error.message)) Object.assign(error, { code: 'time limit' })
    return this.platform.getExceptionConverter().convertException(error)
  }
}
