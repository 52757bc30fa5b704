import { dirname } from 'node:path'
import { MikroORM } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { makeDirectory } from '../config/make-directory.ts'
import { databaseOptions } from './options.ts'
import { Patience } from './patience.ts'

// Others that start at the same time come first, one after the other.
const longestWait = 5_000

/** The database cannot be used. The message is one sentence for the operator. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  readonly code = 'DATABASE'
}

/** Opens the database, which it makes at the first start, and brings its schema up to date. */
export async function openDatabase(databaseUrl: string): Promise<MikroORM> {
  const path = databaseUrl.replace(/^sqlite:/, '')
  const orm = await MikroORM.init(databaseOptions(databaseUrl))
  const unlock = await lockMigrations(path)
  try {
    await orm.connect()
    await migrate(orm)
    return orm
  } catch (error) {
    await orm.close(true)
    if (error instanceof DatabaseError) throw error
    throw new DatabaseError(`The database ${path} cannot be used: ${reason(error)}.`, { cause: error })
  } finally {
    unlock()
  }
}

// A lock that the system lets go of when the process dies: an exclusive transaction on a file of its own.
async function lockMigrations(path: string): Promise<() => void> {
  if (path === ':memory:') return () => {}
  try {
    makeDirectory(dirname(path))
    const lock = new Database(`${path}-migrating`, { timeout: 0 })
    await new Patience(longestWait).run(() => lock.exec('begin exclusive'))
    return () => lock.close()
  } catch (error) {
    throw new DatabaseError(`The database ${path} cannot be opened: ${reason(error)}.`, { cause: error })
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

function reason(error: unknown): string {
  // A driver's message may hold statements with values; its code says enough.
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'it does not answer'
}
