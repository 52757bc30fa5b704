import type { Configuration } from '@mikro-orm/core'
import { AbstractSqlDriver, PostgreSqlConnection, PostgreSqlPlatform } from '@mikro-orm/postgresql'
import type { PostgresDialect, PostgresPool } from 'kysely'
import { KyselyPostgresDriver } from './kysely-postgres-driver.ts'
import { guardedClient, type Pool } from './pool.ts'

/** MikroORM's PostgreSQL driver with a pool that keeps no broken connection. */
export class PooledPostgresDriver extends AbstractSqlDriver {
  constructor(config: Configuration) {
    super(config, new PostgreSqlPlatform(), PooledPostgresConnection, ['kysely', 'pg'])
  }
}

class PooledPostgresConnection extends PostgreSqlConnection {
  /** Allows prepared look-ups, which use the native client. */
  readonly sharesNativeClient = true
  #pool: Pool | undefined
  #timeouts = 0

  /** The numbers of connections, of statements that wait for one, and of those that have got none in time. */
  get poolState() {
    const { totalCount = 0, idleCount: idle = 0, waitingCount: waiting = 0 }: Partial<Pool> = this.#pool ?? {}
    return { used: totalCount - idle, idle, waiting, timeouts: this.#timeouts }
  }

  /** Whether the server responds and takes writes, which a standby does not. */
  override async isConnected(): Promise<boolean> {
    if (!this.connected) return false
    const query = "select 1 where current_setting('transaction_read_only') = 'off'"
    const rows = await this.execute<object[]>(query).catch(() => [])
    return rows.length > 0
  }

  override createKyselyDialect(options: object): PostgresDialect {
    const onPoolCreated = (pool: Pool) => {
      this.#pool = pool
      pool.Client = guardedClient(pool.Client, this.#fail)
      const connect = pool.connect.bind(pool)
      // `pool.query` calls it with a callback.
      pool.connect = (callback) => (callback ? connect(callback) : connect().catch(this.#fail))
    }
    // A hook of MikroORM that is missing in the type of its options.
    const dialect = super.createKyselyDialect({ ...options, onPoolCreated } as object)
    dialect.createDriver = () => new KyselyPostgresDriver({ pool: this.#pool as object as PostgresPool })
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
