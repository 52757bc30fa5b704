import { existsSync } from 'node:fs'
import { type EntityManager, IsolationLevel } from '@mikro-orm/core'
import { database } from '../../config/storage.ts'
import { databaseName, isPostgresUrl } from '../../database/database-url.ts'
import { openDatabase, pendingMigrations } from '../../database/open-database.ts'
import { schema } from '../../schema.ts'
import { CommandError } from '../command-error.ts'
import { begin, connect } from './connect.ts'
import { copyTables, findUsedTable } from './copy-tables.ts'

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
  await using source = await connect(fromUrl)
  await requireThisVersion(source.em, databaseName(fromUrl))
  // Before the migrations, so that an older target with rows stays unchanged.
  if (exists(toUrl)) await requireEmpty(toUrl)
  await (await openDatabase(toUrl, schema)).close()
  await using target = await connect(toUrl)

  await source.em.begin({ isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true })
  const client = await begin(target.em)
  for (const { em, dialect } of [source, target]) await dialect.liftTimeLimits?.(em)
  const lines = await copyTables(source.em, { em: target.em, client }, report)
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
  return databaseUrl
}

function exists(databaseUrl: string): boolean {
  return isPostgresUrl(databaseUrl) || existsSync(databaseName(databaseUrl))
}

async function requireThisVersion(em: EntityManager, name: string): Promise<void> {
  const [missing, ...others] = await pendingMigrations(em, schema.migrations)
  if (missing === undefined) return
  if (others.length === schema.migrations.length - 1)
    throw new CommandError(`${name} is not a database of this site. Check FROM.`)
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
