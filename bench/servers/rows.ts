import { isPostgres } from './environment.ts'

/** The hand-written look-ups, on SQLite or PostgreSQL. */
export const { userByToken, userBySession } = isPostgres
  ? await import('./rows-postgres.ts')
  : await import('./rows-sqlite.ts')
