import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { MikroORM } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { databaseOptions } from './options.ts'
import { retryWhileBusy } from './patient-sqlite.ts'

/** The database cannot be used. The message is one sentence for the operator. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  readonly code = 'DATABASE'
}

/** Opens the database, which it makes at the first start, and brings its schema up to date. */
export async function openDatabase(databaseUrl: string): Promise<MikroORM> {
  const path = databaseUrl.replace(/^sqlite:/, '')
  const unlock = await lockMigrations(path)
  try {
    const orm = await MikroORM.init(databaseOptions(databaseUrl))
    await orm.connect()
    await migrate(orm)
    return orm
  } catch (error) {
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
    mkdirSync(dirname(path), { recursive: true })
    const lock = new Database(`${path}-migrating`, { timeout: 0 })
    await retryWhileBusy(() => lock.exec('begin exclusive'))
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
    await orm.close()
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
