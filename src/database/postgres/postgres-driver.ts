import type { Configuration } from '@mikro-orm/core'
import { AbstractSqlDriver, PostgreSqlConnection, PostgreSqlPlatform } from '@mikro-orm/postgresql'
import type { PostgresDialect } from 'kysely'
import { DatabaseError } from '../database-error.ts'
import { KyselyPostgresDriver, type Pool } from './kysely-postgres-driver.ts'
import { isAnyTimeout, type PostgresQuery, type PostgresResult } from './pooled-connection.ts'

// Long, because several processes may start at the same time and migrate one after another.
const lockTimeout = 8_000
// An arbitrary key, which must be the same in all versions.
const migrationLock = 4_115_417_190_612

/** MikroORM's PostgreSQL driver with a timeout on every wait. */
export class PooledPostgresDriver extends AbstractSqlDriver {
  constructor(config: Configuration) {
    super(config, new PostgreSqlPlatform(), PooledPostgresConnection, ['kysely', 'pg'])
  }
}

export class PooledPostgresConnection extends PostgreSqlConnection {
  #driver: KyselyPostgresDriver | undefined

  /**
   * Takes an advisory lock, which excludes the migrations of other processes. The server releases it when the
   * connection closes. Returns the function that releases it.
   */
  async lockMigrations(): Promise<() => Promise<void>> {
    await this.connect()
    const driver = this.#connectedDriver
    const connection = await driver.acquireConnection()
    try {
      await connection.executeQuery({
        sql: `set lock_timeout = ${lockTimeout}; select pg_advisory_lock(${migrationLock})`,
      })
    } catch (error) {
      connection.markBroken()
      connection.release()
      if (!isAnyTimeout(error)) throw error
      throw new DatabaseError('Another process is still migrating the database. Start again later.', {
        cause: error,
      })
    }
    return async () => {
      const sql = `select pg_advisory_unlock(${migrationLock})`
      await connection.executeQuery({ sql }).catch(() => connection.markBroken())
      connection.release()
      driver.hasTimeouts = true
    }
  }

  /**
   * Runs a query for the prepared look-ups of `src/auth`, on a pooled connection with its timeouts. After an error of `pg`,
   * `src/auth` repeats the query with MikroORM.
   * @throws MikroORM's error after a timeout or without a connection, otherwise the error of `pg`
   */
  async ask(query: PostgresQuery): Promise<PostgresResult> {
    const connection = await this.#connectedDriver.acquireConnection()
    try {
      return await connection.query(query)
    } catch (error) {
      throw isAnyTimeout(error) ? this.#connectedDriver.convertError(error) : error
    } finally {
      connection.release()
    }
  }

  override createKyselyDialect(options: object): PostgresDialect {
    let pool: Pool | undefined
    const dialect = super.createKyselyDialect({
      ...options,
      // A hook of MikroORM that is missing in the type of its options.
      onPoolCreated: (created: Pool) => {
        pool = created
      },
    } as object)
    const converter = this.platform.getExceptionConverter()
    dialect.createDriver = () => {
      if (!pool) throw new Error('MikroORM has created no pool.')
      this.#driver = new KyselyPostgresDriver(pool, (error) => converter.convertException(error))
      return this.#driver
    }
    return dialect
  }

  get #connectedDriver(): KyselyPostgresDriver {
    if (!this.#driver) throw new Error('The database is not connected.')
    return this.#driver
  }
}
