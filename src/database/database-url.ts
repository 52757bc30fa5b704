/** Whether a URL is for PostgreSQL. Otherwise it is `sqlite:` and a path. */
export function isPostgresUrl(databaseUrl: string): boolean {
  return /^postgres(ql)?:/.test(databaseUrl)
}

/** A name for messages: the path of the SQLite file, or the PostgreSQL URL without user and password. */
export function databaseName(databaseUrl: string): string {
  if (!isPostgresUrl(databaseUrl)) return databaseUrl.replace(/^sqlite:/, '')
  const { host, pathname } = new URL(databaseUrl)
  return `postgres://${host}${pathname}`
}
