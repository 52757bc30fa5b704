/** Whether a database URL names one of PostgreSQL; the others are files of SQLite. */
export function isPostgresUrl(databaseUrl: string): boolean {
  return /^postgres(ql)?:/.test(databaseUrl)
}

/** What messages call a database: its file, or where it is and what it is called, without a name or password of anybody. */
export function databaseName(databaseUrl: string): string {
  if (!isPostgresUrl(databaseUrl)) return databaseUrl.replace(/^sqlite:/, '')
  const { host, pathname } = new URL(databaseUrl)
  return `postgres://${host}${pathname}`
}
