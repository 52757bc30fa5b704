import type { EventEmitter } from 'node:events'
import { type EntityManager, MikroORM, type Options } from '@mikro-orm/core'
import { SqliteDriver } from '@mikro-orm/sqlite'
import { DatabaseError, explain } from '../../database/database-error.ts'
import { type Dialect, databaseOptions } from '../../database/database-options.ts'
import { isPostgresUrl } from '../../database/database-url.ts'
import { executedMigrations, loadDialect } from '../../database/open-database.ts'
import { schema } from '../../schema.ts'
import type { PostgresClient } from './copy-rows.ts'

// Milliseconds.
const closeTimeout = 1_000

export interface Connected extends AsyncDisposable {
  readonly dialect: Dialect
  readonly em: EntityManager
  /** The last connection of `pg` that was used. */
  client(): PostgresClient | undefined
  /** Aborted when the connection to a PostgreSQL server is lost. Its reason is the error. */
  readonly lost: AbortSignal
}

/** Connects by MikroORM's own drivers, which stream rows and have no statement timeout. Does not migrate. */
export async function connect(databaseUrl: string): Promise<Connected> {
  const dialect = await loadDialect(databaseUrl)
  const driver: Options['driver'] = isPostgresUrl(databaseUrl)
    ? (await import('@mikro-orm/postgresql')).PostgreSqlDriver
    : SqliteDriver
  const losing = new AbortController()
  let client: PostgresClient | undefined
  const unlimited = dialect.unlimitedOptions ?? dialect.options
  const driverOptions = {
    ...unlimited.driverOptions,
    onPoolCreated: (pool: EventEmitter) =>
      pool
        .on('connect', (connected: EventEmitter) =>
          connected.on('error', (error) => losing.abort(orm.driver.convertException(error))),
        )
        .on('acquire', (acquired: PostgresClient) => {
          client = acquired
        }),
  }
  const options = databaseOptions(unlimited, schema)
  const orm = await MikroORM.init({
    ...options,
    driver,
    ...(isPostgresUrl(databaseUrl) && { driverOptions }),
  })
  const em = orm.em.fork()
  try {
    await orm.connect()
    // SQLite does not read the file before the first query.
    await executedMigrations(em)
    const { signal: lost } = losing
    return { dialect, em, lost, client: () => client, [Symbol.asyncDispose]: () => close(orm, em) }
  } catch (cause) {
    await close(orm, em)
    throw new DatabaseError(explain(databaseUrl, cause).replace('DATABASE_URL', 'its URL'), { cause })
  }
}

/**
 * Rolls back an open transaction, and closes the database. Throws no error, because it would hide the result of the copy. Waits
 * at most a second, because Kysely's own driver never closes a connection that was lost in a transaction.
 */
async function close(orm: MikroORM, em: EntityManager): Promise<void> {
  const { promise: isLate, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, closeTimeout)
  const rolledBack = em.isInTransaction() ? em.rollback() : undefined
  const closed = Promise.allSettled([rolledBack]).then(() => orm.close())
  await Promise.race([closed.catch(() => undefined), isLate])
  clearTimeout(timer)
}
