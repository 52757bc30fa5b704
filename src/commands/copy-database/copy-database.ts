import type { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { type EntityManager, IsolationLevel, MikroORM, type Options } from '@mikro-orm/core'
import { SqliteDriver } from '@mikro-orm/sqlite'
import { database } from '../../config/storage.ts'
import { DatabaseError } from '../../database/database-error.ts'
import { type Dialect, databaseOptions } from '../../database/database-options.ts'
import { databaseName, isPostgresUrl } from '../../database/database-url.ts'
import { executedMigrations, loadDialect, openDatabase } from '../../database/open-database.ts'
import { schema } from '../../schema.ts'
import { CommandError } from '../command-error.ts'
import { copyTables, findUsedTable } from './copy-tables.ts'

// Milliseconds.
const closeTimeout = 1_000

export const help = `npm run copy-database -- FROM TO

Copies all rows of the database FROM into the empty database TO. Users stay signed in. FROM does not change.
The command copies everything or nothing.

  sqlite:data/site.sqlite            an SQLite file
  postgres://user@host/database      an existing PostgreSQL database. Put its password into PGPASSWORD or ~/.pgpass,
                                     because other users of the machine can read the command line.`

/**
 * Copies a database into an empty one. Returns the text to print.
 * @throws {CommandError} or a database error
 */
export async function copyDatabase([from, to, ...others]: readonly string[]): Promise<string> {
  if (from === undefined || to === undefined || others.length > 0)
    throw new CommandError('Name two databases: npm run copy-database -- FROM TO')
  const [fromUrl, toUrl] = [readUrl('FROM', from), readUrl('TO', to)]
  if (!exists(fromUrl))
    throw new CommandError(`The database ${databaseName(fromUrl)} does not exist. Check FROM.`)
  await using source = await connect(fromUrl)
  await requireThisVersion(source.em, databaseName(fromUrl))
  // Before the migrations, so that an older target with rows stays unchanged.
  if (exists(toUrl)) await requireEmpty(toUrl)
  await (await openDatabase(toUrl, schema)).close()
  await using target = await connect(toUrl)

  await source.em.begin({ isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true })
  await target.em.begin()
  for (const { em, dialect } of [source, target]) await dialect.liftTimeLimits?.(em)
  const lines = await copyTables(source, target.em)
  try {
    await target.em.commit()
  } catch (error) {
    // MikroORM does not convert the errors of a commit.
    throw error instanceof Error ? target.em.getDriver().convertException(error) : error
  }
  return [...lines, `Copied ${databaseName(fromUrl)} to ${databaseName(toUrl)}.`].join('\n')
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

interface Connected extends AsyncDisposable {
  readonly dialect: Dialect
  readonly em: EntityManager
  /** Aborted when the connection to a PostgreSQL server is lost. Its reason is the error. */
  readonly lost: AbortSignal
}

/** Connects by MikroORM's own drivers, which stream rows and have no statement timeout. Does not migrate. */
async function connect(databaseUrl: string): Promise<Connected> {
  const dialect = await loadDialect(databaseUrl)
  const driver: Options['driver'] = isPostgresUrl(databaseUrl)
    ? (await import('@mikro-orm/postgresql')).PostgreSqlDriver
    : SqliteDriver
  const losing = new AbortController()
  const unlimited = dialect.unlimitedOptions ?? dialect.options
  const driverOptions = {
    ...unlimited.driverOptions,
    onPoolCreated: (pool: EventEmitter) =>
      pool.on('connect', (client: EventEmitter) =>
        client.on('error', (error) => losing.abort(orm.driver.convertException(error))),
      ),
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
    return { dialect, em, lost: losing.signal, [Symbol.asyncDispose]: () => close(orm, em) }
  } catch (cause) {
    await close(orm, em)
    throw new DatabaseError(dialect.explain(cause).replace('DATABASE_URL', 'its URL'), { cause })
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
  const used = await findUsedTable(target.em)
  if (used)
    throw new CommandError(
      `${databaseName(databaseUrl)} is not empty: ${used} has rows. Nothing was copied. Name an empty database.`,
    )
}
