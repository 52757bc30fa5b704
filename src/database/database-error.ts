import { databaseName, isPostgresUrl } from './database-url.ts'

/** The database cannot be used. The message is for the operator. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
}

/** The code of an error, or `no response`. Do not show the message of the error, because it may contain SQL with values. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'no response'
}

const remedies: Partial<Record<string, string>> = {
  SQLITE_BUSY: 'Another process has locked it. Stop that process, or try again later.',
  SQLITE_CORRUPT: 'The file is damaged. Restore a backup.',
  SQLITE_FULL: 'The disk is full. Free some space.',
  SQLITE_NOTADB: 'The file is not an SQLite database. Correct the path, or restore a backup.',
  '08P01': 'The pooler in front of it allows no transactions. Use its transaction mode or its session mode.',
  '25006': 'It is read-only, for example because its server is a standby. Use the primary.',
  '28P01': 'Check the user and the password in DATABASE_URL.',
  '28000': 'Check the user and the password in DATABASE_URL.',
  '3D000': 'It does not exist. Create it, or correct DATABASE_URL.',
  '55P03': 'Another process is still migrating it. Start again later.',
  '42501': 'The user cannot create tables. Use the owner of the database.',
}

/** Describes an error for the operator, without secrets and SQL. */
export function explain(databaseUrl: string, error: unknown): string {
  const code = errorCode(error)
  const usual = isPostgresUrl(databaseUrl)
    ? 'Check the server and DATABASE_URL.'
    : 'Check its path, and the permissions of the file and its folder.'
  return `The database ${databaseName(databaseUrl)} cannot be used: ${code}. ${remedies[code] ?? usual}`
}
