import type { Row } from './answer.ts'

/** A statement that returns rows, each as the list of its values. */
export interface Statement {
  get(value?: unknown): Row | undefined
  all(): Row[]
}

/** What better-sqlite3 hands out as its database. */
export interface SqliteClient {
  readonly name: string
  readonly memory: boolean
  readonly open: boolean
  readonly inTransaction: boolean
  prepare(sql: string): { raw(): Statement }
  exec(sql: string): unknown
  pragma(name: string, options: { simple: true }): unknown
}

/** A connection that knows better than its client whether somebody may read or write past it, and sooner. */
export interface CarefulConnection {
  /** Throws if this is no moment for it: in a transaction, say, or when this client is closed. */
  assertReadable?(client: SqliteClient): void
  /** The same for a statement that writes. */
  assertWritable?(client: SqliteClient): void
}

export function isSqlite(client: unknown): client is SqliteClient {
  return typeof client === 'object' && client !== null && 'inTransaction' in client && 'prepare' in client
}

/**
 * Whether that is a table of the database's own file, and there is nothing else of that name in its place. What a view or a
 * virtual table shows may change though nothing is committed, and what is committed to a temporary table or to an attached
 * database does not show in our log.
 */
export function isOwnTable(client: SqliteClient, table: string): boolean {
  const isIn = (schema: string) =>
    client
      .prepare(`select type, rootpage from ${schema}.sqlite_schema where name = ? collate nocase`)
      .raw()
      .get(table)
  const [type, page] = isIn('main') ?? []
  return type === 'table' && Number(page) > 0 && !isIn('temp')
}

/**
 * Whether a transaction is open, or a query, such as one that is streamed: that keeps the connection in the past, and
 * better-sqlite3 from executing anything
 */
export function isBusy(client: SqliteClient): boolean {
  if (client.inTransaction) return true
  try {
    client.exec('')
    return false
  } catch {
    return true
  }
}
