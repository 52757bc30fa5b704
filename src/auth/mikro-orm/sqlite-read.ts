import type { PreparedRead, Row } from './prepared-read.ts'
import { RowMemory } from './row-memory.ts'
import { WalIndex } from './wal-index.ts'

/** What better-sqlite3 hands out as its database. */
interface SqliteClient {
  readonly name: string
  readonly memory: boolean
  readonly open: boolean
  readonly inTransaction: boolean
  prepare(sql: string): { raw(): { get(value?: unknown): Row | undefined } }
  pragma(name: string, options: { simple: true }): unknown
}

/** A connection that knows better than its client whether somebody may read past it. */
interface CarefulConnection {
  /** Throws if this is no moment for it: in a transaction, say, or when it is closed. */
  assertReadable?(): void
}

export function isSqlite(client: unknown): client is SqliteClient {
  return typeof client === 'object' && client !== null && 'inTransaction' in client && 'prepare' in client
}

/** Prepares a statement, and remembers its rows if they may be. */
export function readSqlite(
  client: SqliteClient,
  connection: object,
  { sql, remember }: { sql: string; remember: boolean },
): PreparedRead {
  const careful = connection as CarefulConnection
  const statement = client.prepare(sql).raw()
  const memory = remember && isOfTables(client, sql) ? memoryFor(client) : undefined
  const read = (value: string | number) => {
    // Somebody else's, on the connection that all share: what it has written may yet be taken back.
    if (!careful.assertReadable && client.inTransaction)
      throw new Error('The connection is in a transaction.')
    return statement.get(value)
  }
  return {
    get(value) {
      careful.assertReadable?.()
      return memory ? memory.row(value, read) : read(value)
    },
  }
}

// What a view shows may change with the time, and nothing is committed then.
function isOfTables(client: SqliteClient, sql: string): boolean {
  const views = client
    .prepare("select group_concat(name, char(10)) from sqlite_schema where type = 'view'")
    .raw()
  const names = String(views.get()?.[0] ?? '')
    .split('\n')
    .filter(Boolean)
  return !names.some((name) => sql.includes(name))
}

function memoryFor(client: SqliteClient): RowMemory | undefined {
  const isShared = client.pragma('locking_mode', { simple: true }) === 'normal'
  if (client.memory || !isShared || client.pragma('journal_mode', { simple: true }) !== 'wal')
    return undefined
  const index = WalIndex.of(client.name)
  if (!index) return undefined
  return new RowMemory({
    hasChanged() {
      // What is remembered would still be there; a statement finds out by itself.
      if (!client.open) throw new Error('The connection is closed.')
      return index.hasChanged()
    },
  })
}
