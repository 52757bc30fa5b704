import { once } from 'node:events'
import { type EntityManager, MikroORM } from '@mikro-orm/core'
import type { PostgreSqlConnection } from '@mikro-orm/postgresql'
import { SqliteDriver } from '@mikro-orm/sqlite'
import { DatabaseError, explain } from '../../database/database-error.ts'
import { databaseOptions } from '../../database/database-options.ts'
import { isPostgresUrl } from '../../database/database-url.ts'
import { isPostgres } from '../../database/is-postgres.ts'
import { loadDialect } from '../../database/open-database.ts'
import { select } from '../../database/select.ts'
import { schema } from '../../schema.ts'
import type { PostgresClient } from './copy-rows.ts'

/** Connects without a time limit for statements. Does not migrate. */
export async function connect(databaseUrl: string) {
  const dialect = await loadDialect(databaseUrl)
  const options = databaseOptions(dialect.unlimitedOptions, schema)
  // The driver of the site would lock an SQLite file even for a transaction that only reads.
  const orm = await MikroORM.init(isPostgresUrl(databaseUrl) ? options : { ...options, driver: SqliteDriver })
  const em = orm.em.fork()
  try {
    await orm.connect()
    // SQLite does not read the file before the first query.
    await select(em, 'select 1 from mikro_orm_migrations')
    return { dialect, em, [Symbol.asyncDispose]: () => close(orm, em) }
  } catch (cause) {
    await close(orm, em)
    throw new DatabaseError(explain(databaseUrl, cause).replace('DATABASE_URL', 'its URL'), { cause })
  }
}

/** Begins a transaction. On PostgreSQL, returns its connection. */
export async function begin(em: EntityManager): Promise<PostgresClient | undefined> {
  if (!isPostgres(em)) {
    await em.begin()
    return undefined
  }
  const pool = await (em.getConnection() as PostgreSqlConnection).getNativeClient()
  const [[client]] = await Promise.all([once(pool, 'acquire'), em.begin()])
  return client
}

/** Rolls back an open transaction, and closes the database. Throws no error, because it would hide the result of the copy. */
async function close(orm: MikroORM, em: EntityManager): Promise<void> {
  if (em.isInTransaction()) await Promise.allSettled([em.rollback()])
  await Promise.allSettled([orm.close()])
}
