import { MikroORM } from '@mikro-orm/core'
import { DatabaseError } from './database-error.ts'
import { type Dialect, databaseOptions, type Schema } from './database-options.ts'
import { isPostgresUrl } from './database-url.ts'

/**
 * Opens a database and runs the pending migrations. Creates a missing SQLite file. `connections` is the size of the
 * PostgreSQL pool.
 * @throws {DatabaseError} if the database cannot be used
 */
export async function openDatabase(
  databaseUrl: string,
  { connections, ...schema }: Schema & { connections?: number },
): Promise<MikroORM> {
  const dialect = await loadDialect(databaseUrl, connections)
  const orm = await MikroORM.init(databaseOptions(dialect, schema))
  try {
    const unlock = await dialect.lockMigrations(orm)
    try {
      await orm.connect()
      await migrate(orm, schema)
    } finally {
      await unlock()
    }
    return orm
  } catch (error) {
    await orm.close(true)
    if (error instanceof DatabaseError) throw error
    throw new DatabaseError(dialect.explain(error), { cause: error })
  }
}

async function migrate(orm: MikroORM, { migrations }: Schema): Promise<void> {
  const known = new Set(migrations.map(({ name }) => name))
  const executed = await orm.migrator.getExecuted()
  const newer = executed.find(({ name }) => !known.has(name))
  if (newer) {
    throw new DatabaseError(
      `The database is newer than this program: it has the migration ${newer.name}. Start a newer version.`,
    )
  }
  await orm.migrator.up()
}

/** Loads the dialect of a database URL, and only its driver. `connections` is the size of the PostgreSQL pool. */
export async function loadDialect(databaseUrl: string, connections?: number): Promise<Dialect> {
  return isPostgresUrl(databaseUrl)
    ? (await import('./postgres/postgres.ts')).postgres(databaseUrl, connections)
    : (await import('./sqlite/sqlite.ts')).sqlite(databaseUrl)
}
