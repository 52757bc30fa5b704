import { setTimeout as sleep } from 'node:timers/promises'
import type { Configuration } from '@mikro-orm/core'
import { AbstractSqlDriver, PostgreSqlConnection, PostgreSqlPlatform } from '@mikro-orm/postgresql'
import type { Dialect, PostgresDialect } from 'kysely'
import { DatabaseError } from '../database-error.ts'
import { type Answer, hasWaited, type Question } from './lease.ts'
import { type Pool, PooledDatabase } from './pooled-database.ts'

// Others that start at the same time come first, one after the other.
const longestWait = 8_000
const pause = 25
// Any number will do, as long as it stays the same.
const migrating = 4_115_417_190_612

/** MikroORM's PostgreSQL driver, in which nobody waits for ever. */
export class PooledPostgresDriver extends AbstractSqlDriver {
  constructor(config: Configuration) {
    super(config, new PostgreSqlPlatform(), PooledPostgresConnection, ['kysely', 'pg'])
  }
}

export class PooledPostgresConnection extends PostgreSqlConnection {
  #pooled: PooledDatabase | undefined

  /**
   * Waits until no other process migrates, and keeps the others waiting until what it returns is called: by a lock that
   * the server lets go of when the connection is closed.
   */
  async lockMigrations(): Promise<() => Promise<void>> {
    await this.connect()
    const pooled = this.#connected
    const lease = await pooled.acquireConnection()
    const deadline = performance.now() + longestWait
    const isLocked = async () => {
      const { rows } = await lease.executeQuery<{ is: boolean }>({
        sql: `select pg_try_advisory_lock(${migrating}) as is`,
      })
      return rows[0]?.is
    }
    try {
      while (!(await isLocked())) {
        if (performance.now() > deadline)
          throw new DatabaseError(
            'Another process is migrating the database, and not done yet. Start again later.',
          )
        await sleep(pause)
      }
    } catch (error) {
      lease.break()
      lease.end()
      throw error
    }
    return async () => {
      // Where that fails, the connection is closed, and the lock goes with it.
      await lease.executeQuery({ sql: `select pg_advisory_unlock(${migrating})` }).catch(() => lease.break())
      lease.end()
      pooled.limitWaits()
    }
  }

  /**
   * For `prepareRead`, which asks past MikroORM: on a connection of the pool, and for no longer than others.
   * @throws MikroORM's error where it has waited in vain; what the driver throws where it may well be asked again
   */
  async ask(question: Question): Promise<Answer> {
    const lease = await this.#connected.acquireConnection()
    try {
      return await lease.ask(question)
    } catch (error) {
      throw hasWaited(error) ? this.#connected.convert(error) : error
    } finally {
      lease.end()
    }
  }

  override createKyselyDialect(options: object): PostgresDialect {
    let pool: Pool | undefined
    const dialect = super.createKyselyDialect({
      ...options,
      // MikroORM's own hook, which its type of the options does not know.
      onPoolCreated: (created: Pool) => {
        pool = created
      },
    } as object)
    const converter = this.platform.getExceptionConverter()
    const careful: Dialect = {
      createDriver: () => {
        if (!pool) throw new Error('MikroORM has made no pool.')
        this.#pooled = new PooledDatabase(pool, (error) => converter.convertException(error))
        return this.#pooled
      },
      createAdapter: () => dialect.createAdapter(),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createIntrospector: (db) => dialect.createIntrospector(db),
    }
    // Only these four are ever asked of it.
    return careful as PostgresDialect
  }

  get #connected(): PooledDatabase {
    if (!this.#pooled) throw new Error('The database is not connected.')
    return this.#pooled
  }
}
