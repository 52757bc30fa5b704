import { DatabaseError } from './database-error.ts'
import { isPostgresUrl } from './database-url.ts'
import type { DatabaseLimits, Dialect } from './dialect.ts'

/**
 * Loads the dialect of a database URL, and only its driver.
 * @throws {DatabaseError} if the driver is not installed
 */
export async function loadDialect(databaseUrl: string, limits: DatabaseLimits = {}): Promise<Dialect> {
  if (!isPostgresUrl(databaseUrl)) return (await import('./sqlite/sqlite.ts')).sqlite(databaseUrl)
  try {
    return (await import('./postgres/postgres.ts')).postgres(databaseUrl, limits)
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
