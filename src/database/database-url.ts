/** Whether a URL is for PostgreSQL. Otherwise it is `sqlite:` and a path. */
export function isPostgresUrl(databaseUrl: string): boolean {
  return /^postgres(ql)?:/.test(databaseUrl)
}

/** The name of a database for messages: its path, or its host and name without user and password. */
export function databaseName(databaseUrl: string): string {
  if (!isPostgresUrl(databaseUrl)) return databaseUrl.replace(/^sqlite:/, '')
  const { host, pathname } = new URL(databaseUrl)
  return `postgres://${host}${pathname}`
}
