import { type EntityManager, MikroORM, TableNotFoundException, type Transaction } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { DatabaseError, explain } from './database-error.ts'
import { type Dialect, databaseOptions, type PoolOptions, type Schema } from './database-options.ts'
import { isPostgresUrl } from './database-url.ts'

interface Options extends Schema, PoolOptions {
  /** Called after the migrations. */
  readonly onMigrated?: (report: MigrationReport) => void
}

export interface MigrationReport {
  /** The names of the migrations that ran. */
  readonly migrations: readonly string[]
  /** The statements that an administrator must run, because the role may not. */
  readonly refused: readonly string[]
}

/**
 * Opens a database and runs the pending migrations. Creates a missing SQLite file.
 * @throws {DatabaseError} if the database cannot be used
 */
export async function openDatabase(databaseUrl: string, options: Options): Promise<MikroORM> {
  const dialect = await loadDialect(databaseUrl, options)
  const orm = await MikroORM.init(databaseOptions(dialect.options, options))
  try {
    if (dialect.unlimitedOptions) await migrateApart(dialect, options)
    else await migrate(orm, dialect, options)
    await orm.connect()
    return orm
  } catch (error) {
    await orm.close(true)
    if (error instanceof DatabaseError) throw error
    throw new DatabaseError(explain(databaseUrl, error), { cause: error })
  }
}

/** Migrates on a connection of its own, because a migration may take or wait longer than a request. */
async function migrateApart(dialect: Dialect, options: Options): Promise<void> {
  const { migrations } = options
  const apart = { ...dialect.unlimitedOptions, discovery: { warnWhenNoEntities: false } }
  const orm = await MikroORM.init(databaseOptions(apart, { entities: [], migrations }))
  try {
    await migrate(orm, dialect, options)
  } finally {
    await orm.close(true)
  }
}

/** Runs the migrations in one transaction, which on SQLite locks the file. */
async function migrate(orm: MikroORM, dialect: Dialect, { migrations, onMigrated }: Options): Promise<void> {
  await orm.connect()
  // Takes no lock of the SQLite file if no migration is pending.
  if (!dialect.lockMigrations && !(await isPending(orm.em.fork(), migrations))) return
  const report = await orm.em.fork().transactional(async (em) => {
    await dialect.lockMigrations?.(em)
    const transaction: Transaction = em.getTransactionContext()
    const ran = await orm.migrator.up({ transaction })
    await isPending(em, migrations)
    const refused = (await dialect.setTimeLimits?.(em)) ?? []
    return { migrations: ran.map(({ name }) => name), refused }
  })
  onMigrated?.(report)
}

/** Whether a migration has not run yet. Throws if the database has a migration that this program does not know. */
async function isPending(em: EntityManager, migrations: Schema['migrations']): Promise<boolean> {
  const executed = await executedMigrations(em)
  const known = new Set(migrations.map(({ name }) => name))
  const newer = executed.find((name) => !known.has(name))
  if (newer)
    throw new DatabaseError(
      `The database is newer than this program: it has the migration ${newer}. Start a newer version.`,
    )
  return executed.length < known.size
}

/** Returns the names of the executed migrations. MikroORM's migrator would create a missing table of migrations. */
export async function executedMigrations(em: EntityManager): Promise<string[]> {
  try {
    // Both drivers of the site are SQL drivers.
    const rows = await (em as SqlEntityManager).execute<{ name: string }[]>(
      'select name from mikro_orm_migrations',
    )
    return rows.map(({ name }) => name)
  } catch (error) {
    if (error instanceof TableNotFoundException) return []
    throw error
  }
}

/** Loads the dialect of a database URL, and only its driver. */
export async function loadDialect(databaseUrl: string, options?: PoolOptions): Promise<Dialect> {
  return isPostgresUrl(databaseUrl)
    ? (await import('./postgres/postgres.ts')).postgres(databaseUrl, options)
    : (await import('./sqlite/sqlite.ts')).sqlite(databaseUrl, options)
}
