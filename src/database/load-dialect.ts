import type { Dialect } from './database-options.ts'
import { isPostgresUrl } from './database-url.ts'

/** Loads the dialect of a database URL, and only its driver. `connections` is the size of the PostgreSQL pool. */
export async function loadDialect(databaseUrl: string, connections?: number): Promise<Dialect> {
  return isPostgresUrl(databaseUrl)
    ? (await import('./postgres/postgres.ts')).postgres(databaseUrl, connections)
    : (await import('./sqlite/sqlite.ts')).sqlite(databaseUrl)
}
