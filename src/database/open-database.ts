import { MikroORM } from '@mikro-orm/core'
import { DatabaseError } from './database-error.ts'
import { type DatabaseSettings, dialectOf } from './dialect.ts'
import { databaseOptions } from './options.ts'

export { DatabaseError } from './database-error.ts'

/**
 * Opens the database and brings its schema up to date. A file of SQLite is made at the first start.
 * @throws {DatabaseError} if it cannot be used
 */
export async function openDatabase(databaseUrl: string, settings: DatabaseSettings = {}): Promise<MikroORM> {
  const dialect = await dialectOf(databaseUrl, settings)
  const orm = await MikroORM.init(await databaseOptions(dialect))
  try {
    const unlock = await dialect.lockMigrations(orm)
    try {
      await orm.connect()
      await migrate(orm)
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

async function migrate(orm: MikroORM): Promise<void> {
  const known = new Set(orm.config.get('migrations').migrationsList?.map((each) => each.name))
  const done = await orm.migrator.getExecuted()
  const newer = done.find(({ name }) => !known.has(name))
  if (newer) {
    throw new DatabaseError(
      `The database is newer than this program: it has had the migration ${newer.name}. Start a newer version.`,
    )
  }
  await orm.migrator.up()
}
