import { existsSync, statSync } from 'node:fs'
import { MikroORM, TableNotFoundException } from '@mikro-orm/core'
import { SqliteDriver } from '@mikro-orm/sqlite'
import { databaseName, isPostgresUrl } from '../database/database-url.ts'
import { dialectOf } from '../database/dialect.ts'
import { DatabaseError } from '../database/open-database.ts'
import { databaseOptions } from '../database/options.ts'
import { Failure } from '../failure.ts'
import { migrations } from '../migrations/index.ts'
import { execute } from './execute.ts'

/**
 * Opens a database as it is: nothing is made, nothing is migrated, and a statement may take as long as it needs.
 * @throws {Failure} if it is not there, or not of this version
 * @throws {DatabaseError} if it cannot be used
 */
export async function connect(databaseUrl: string): Promise<MikroORM> {
  const name = databaseName(databaseUrl)
  if (!isPostgresUrl(databaseUrl) && !existsSync(name)) throw new Failure(`There is no database ${name}.`)
  const dialect = await dialectOf(databaseUrl)
  const options = await databaseOptions(dialect)
  // The site's own driver has writers wait for a transaction that only reads, and gives up one that pauses.
  const orm = await MikroORM.init(isPostgresUrl(databaseUrl) ? options : { ...options, driver: SqliteDriver })
  try {
    await orm.connect()
    refuseOtherVersions(name, await migrationsOf(orm, name))
    return orm
  } catch (error) {
    await orm.close(true)
    if (error instanceof Failure) throw error
    throw new DatabaseError(dialect.explain(error), { cause: error })
  }
}

/** Something that two databases have in common only if they are one, whatever each is called. */
export async function identityOf(orm: MikroORM, databaseUrl: string): Promise<string> {
  if (!isPostgresUrl(databaseUrl)) {
    const { dev, ino } = statSync(databaseName(databaseUrl), { bigint: true })
    return `${dev} ${ino}`
  }
  const [row] = await execute<{ identity: string }>(
    orm.em.fork(),
    `select extract(epoch from pg_postmaster_start_time()) || ' ' || oid as identity
     from pg_database where datname = current_database()`,
  )
  return String(row?.identity)
}

// Not by MikroORM's migrator, which would make a table for them.
async function migrationsOf(orm: MikroORM, name: string): Promise<Set<string>> {
  try {
    const rows = await execute<{ name: string }>(orm.em.fork(), 'select name from mikro_orm_migrations')
    return new Set(rows.map((row) => row.name))
  } catch (error) {
    if (error instanceof TableNotFoundException) throw new Failure(`${name} is no database of the site.`)
    throw error
  }
}

function refuseOtherVersions(database: string, done: ReadonlySet<string>): void {
  const newer = [...done].find((name) => !migrations.some((known) => known.name === name))
  if (newer !== undefined)
    throw new Failure(
      `${database} is newer than this program: it has had the migration ${newer}. Use a newer version.`,
    )
  const missing = migrations.find(({ name }) => !done.has(name))
  if (missing)
    throw new Failure(
      `${database} is older than this program: it has not had the migration ${missing.name}. Start this version of the site on it once, say by npm run user -- list.`,
    )
}
