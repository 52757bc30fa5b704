import { existsSync } from 'node:fs'
import { type EntityManager, IsolationLevel, MikroORM, type Options } from '@mikro-orm/core'
import { type SqlEntityManager, SqliteDriver } from '@mikro-orm/sqlite'
import { database } from '../../config/storage.ts'
import { DatabaseError, explain } from '../../database/database-error.ts'
import { databaseOptions } from '../../database/database-options.ts'
import { databaseName, isPostgresUrl } from '../../database/database-url.ts'
import { isPostgres } from '../../database/is-postgres.ts'
import { executedMigrations, loadDialect, openDatabase } from '../../database/open-database.ts'
import { liftTimeLimits } from '../../database/postgres/time-limits.ts'
import { schema } from '../../schema.ts'
import { CommandError } from '../command-error.ts'
import { copyTables, countRows } from './copy-tables.ts'

export const help = `npm run copy-database -- FROM TO

Copies all rows of the database FROM into the empty database TO. Users stay signed in. FROM does not change.
The command copies everything or nothing.

  sqlite:data/site.sqlite            an SQLite file
  postgres://user@host/database      an existing PostgreSQL database. Put its password into PGPASSWORD or ~/.pgpass,
                                     because other users of the machine can read the command line.`

/**
 * Copies a database into an empty one. Returns the text to print.
 * @param report receives lines about the progress
 * @throws {CommandError} or a database error
 */
export async function copyDatabase(
  [from, to, ...others]: readonly string[],
  report: (line: string) => void = () => {},
): Promise<string> {
  if (from === undefined || to === undefined || others.length > 0)
    throw new CommandError('Name two databases: npm run copy-database -- FROM TO')
  const [fromUrl, toUrl] = [readUrl('FROM', from), readUrl('TO', to)]
  if (!exists(fromUrl))
    throw new CommandError(`The database ${databaseName(fromUrl)} does not exist. Check FROM.`)
  // MikroORM's own driver for SQLite, because a transaction of the site's driver locks the file.
  await using source = await connect(fromUrl, isPostgresUrl(fromUrl) ? {} : { driver: SqliteDriver })
  await requireThisVersion(source.em.fork(), databaseName(fromUrl))
  // Before the migrations, so that an older target with rows stays unchanged.
  if (exists(toUrl)) await requireEmpty(toUrl)
  await (await openDatabase(toUrl, schema)).close()
  await using target = await connect(toUrl)

  const snapshot = { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true }
  const lines = await source.em.fork().transactional(
    (read) =>
      target.em.fork().transactional(async (write) => {
        for (const em of [read, write]) if (isPostgres(em)) await liftTimeLimits(em)
        return copyTables(read as SqlEntityManager, write as SqlEntityManager, report)
      }),
    snapshot,
  )
  return [...lines, `Copied ${databaseName(fromUrl)} to ${databaseName(toUrl)}.`].join('\n')
}

/** Opens a database without migrations and without time limits. */
async function connect(databaseUrl: string, options: Partial<Options> = {}): Promise<MikroORM> {
  const dialect = await loadDialect(databaseUrl)
  // A name of its own, because MikroORM shares an open transaction among entity managers of one name.
  const contextName = databaseUrl
  const unlimited = { ...(dialect.unlimitedOptions ?? dialect.options), ...options, contextName }
  const orm = await MikroORM.init(databaseOptions(unlimited, schema))
  try {
    await orm.connect()
    // SQLite does not read the file before the first query.
    await executedMigrations(orm.em.fork())
    return orm
  } catch (cause) {
    await orm.close(true)
    throw new DatabaseError(explain(databaseUrl, cause).replace('DATABASE_URL', 'its URL'), { cause })
  }
}

/** Parses a database URL by the rules of `DATABASE_URL`. */
function readUrl(name: string, text: string): string {
  const databaseUrl = database.parse(text)
  if (databaseUrl === undefined) throw new CommandError(`${name} must be ${database.expected}.`)
  if (databaseUrl === 'sqlite::memory:') throw new CommandError(`${name} must not be a database in memory.`)
  return databaseUrl
}

function exists(databaseUrl: string): boolean {
  return isPostgresUrl(databaseUrl) || existsSync(databaseName(databaseUrl))
}

async function requireThisVersion(em: EntityManager, name: string): Promise<void> {
  const executed = await executedMigrations(em)
  const known = schema.migrations.map((migration) => migration.name)
  if (executed.length === 0) throw new CommandError(`${name} is not a database of this site. Check FROM.`)
  const newer = executed.find((each) => !known.includes(each))
  if (newer)
    throw new CommandError(
      `${name} is newer than this program: it has the migration ${newer}. Use a newer program.`,
    )
  const missing = known.find((each) => !executed.includes(each))
  if (missing)
    throw new CommandError(
      `${name} is older than this program: it lacks the migration ${missing}. Start the site on it once.`,
    )
}

async function requireEmpty(databaseUrl: string): Promise<void> {
  await using target = await connect(databaseUrl)
  const em = target.em.fork() as SqlEntityManager
  for (const entity of schema.entities) {
    const meta = em.getMetadata().get(entity)
    if ((await countRows(em, meta)) > 0)
      throw new CommandError(
        `${databaseName(databaseUrl)} is not empty: ${meta.tableName} has rows. Nothing was copied. Name an empty database.`,
      )
  }
}
