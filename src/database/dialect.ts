import type { MikroORM, Options } from '@mikro-orm/core'
import { DatabaseError } from './database-error.ts'
import { isPostgresUrl } from './database-url.ts'

/** What is different from one kind of database to the other. */
export interface Dialect {
  /** The part of MikroORM's options that is about it. */
  readonly options: Partial<Options>
  /** Waits until nobody else migrates, and keeps others from it until what it returns is called. */
  lockMigrations(orm: MikroORM): Promise<() => void | Promise<void>>
  /** What is wrong, in a sentence for the operator, without a secret or a statement. */
  explain(error: unknown): string
}

/** How a database is used. */
export interface DatabaseSettings {
  /** How many connections to PostgreSQL there are at most. */
  readonly connections?: number | undefined
}

/**
 * The dialect of a database URL. Only that one is loaded.
 * @throws {DatabaseError} if its driver is not installed
 */
export async function dialectOf(databaseUrl: string, settings: DatabaseSettings = {}): Promise<Dialect> {
  if (!isPostgresUrl(databaseUrl)) return (await import('./sqlite/sqlite.ts')).sqlite(databaseUrl)
  try {
    return (await import('./postgres/postgres.ts')).postgres(databaseUrl, settings)
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new DatabaseError(
      'PostgreSQL needs the package @mikro-orm/postgresql, which is not installed: run npm ci.',
      { cause: error },
    )
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
}
