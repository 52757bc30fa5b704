import { type EntityManager, MikroORM, type Transaction } from '@mikro-orm/core'
import { DatabaseError, explain } from './database-error.ts'
import { type Dialect, databaseOptions, type PoolOptions, type Schema } from './database-options.ts'
import { isPostgresUrl } from './database-url.ts'
import { select } from './select.ts'

interface Options extends Schema, PoolOptions {
  /** Called with the names of the migrations that ran. */
  readonly onMigrated?: (migrations: readonly string[]) => void
}

/**
 * Opens a database and runs the pending migrations. Creates a missing SQLite file.
 * @throws {DatabaseError} if the database cannot be used
 */
export async function openDatabase(databaseUrl: string, options: Options): Promise<MikroORM> {
  const dialect = await loadDialect(databaseUrl, options)
  const orm = await MikroORM.init(databaseOptions(dialect.options, options))
  try {
    await migrate(dialect, options)
    await orm.connect()
    return orm
  } catch (error) {
    await orm.close(true)
    if (error instanceof DatabaseError) throw error
    throw new DatabaseError(explain(databaseUrl, error), { cause: error })
  }
}

/**
 * Runs the migrations in one transaction, which on SQLite locks the file. Its connection is separate, because a migration may take or
 * wait longer than a request.
 */
async function migrate(dialect: Dialect, { migrations, onMigrated }: Options): Promise<void> {
  const apart = { ...dialect.unlimitedOptions, discovery: { warnWhenNoEntities: false } }
  const orm = await MikroORM.init(databaseOptions(apart, { entities: [], migrations }))
  try {
    await orm.connect()
    // Takes no lock of the SQLite file if no migration is pending.
    if (!dialect.prepareMigrations && (await pendingMigrations(orm.em.fork(), migrations)).length === 0)
      return
    const ran = await orm.em.fork().transactional(async (em) => {
      await dialect.prepareMigrations?.(em)
      const transaction: Transaction = em.getTransactionContext()
      const names = (await orm.migrator.up({ transaction })).map(({ name }) => name)
      await pendingMigrations(em, migrations)
      return names
    })
    onMigrated?.(ran)
  } finally {
    await orm.close(true)
  }
}

/**
 * Returns the names of the migrations that have not run yet. MikroORM's migrator would create a missing table of migrations.
 * @throws {DatabaseError} if the database has a migration that this program does not know
 */
export async function pendingMigrations(
  em: EntityManager,
  migrations: Schema['migrations'],
): Promise<string[]> {
  const rows = await select<{ name: string }>(em, 'select name from mikro_orm_migrations')
  const executed = rows.map(({ name }) => name)
  const known = migrations.map(({ name }) => name)
  const newer = executed.find((name) => !known.includes(name))
  if (newer)
    throw new DatabaseError(
      `The database ${em.config.get('dbName')} is newer than this program: it has the migration ${newer}. Start a newer version.`,
    )
  return known.filter((name) => !executed.includes(name))
}

/** Loads the dialect of a database URL, and only its driver. */
export async function loadDialect(databaseUrl: string, options?: PoolOptions): Promise<Dialect> {
  return isPostgresUrl(databaseUrl)
    ? (await import('./postgres/postgres.ts')).postgres(databaseUrl, options)
    : (await import('./sqlite/sqlite.ts')).sqlite(databaseUrl, options)
}
