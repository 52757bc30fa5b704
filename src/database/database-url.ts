/** Whether a URL is for PostgreSQL. Otherwise it is `sqlite:` and a path. */
export function isPostgresUrl(databaseUrl: string): boolean {
  return /^postgres(ql)?:/.test(databaseUrl)
}

/** The path of an SQLite file, or a PostgreSQL URL for messages, without user and password. */
export function databaseName(databaseUrl: string): string {
  if (!isPostgresUrl(databaseUrl)) return databaseUrl.replace(/^sqlite:/, '')
  const { host, pathname } = new URL(databaseUrl)
  return `postgres://${host}${pathname}`
}
