import type { PreparedRead, ReadStatement, Row } from './prepared-read.ts'
import { RowMemory } from './row-memory.ts'
import { WalIndex } from './wal-index.ts'

/** What better-sqlite3 hands out as its database. */
interface SqliteClient {
  readonly name: string
  readonly memory: boolean
  readonly open: boolean
  readonly inTransaction: boolean
  prepare(sql: string): { raw(): { get(value?: unknown): Row | undefined } }
  exec(sql: string): unknown
  pragma(name: string, options: { simple: true }): unknown
}

/** A connection that knows better than its client whether somebody may read past it, and sooner. */
interface CarefulConnection {
  /** Throws if this is no moment for it: in a transaction, say, or when this client is closed. */
  assertReadable?(client: SqliteClient): void
}

export function isSqlite(client: unknown): client is SqliteClient {
  return typeof client === 'object' && client !== null && 'inTransaction' in client && 'prepare' in client
}

/** Prepares a statement, and remembers its rows if they may be. */
export function readSqlite(
  client: SqliteClient,
  connection: object,
  { sql, tables, remember }: ReadStatement & { remember: boolean },
): PreparedRead {
  const careful = connection as CarefulConnection
  const statement = client.prepare(sql).raw()
  const memory =
    remember && tables.every((each) => isOwnTable(client, each)) ? memoryFor(client, careful) : undefined
  const read = (value: string | number) => {
    // Somebody else's, on the connection that all share: what it has written may yet be taken back.
    if (!careful.assertReadable && client.inTransaction)
      throw new Error('The connection is in a transaction.')
    return statement.get(value)
  }
  return {
    get(value) {
      careful.assertReadable?.(client)
      return memory ? memory.row(value, read) : read(value)
    },
  }
}

// What a view or a virtual table shows may change though nothing is committed, and what is committed to a temporary table or
// to an attached database does not show in our log. Names are the same in any case.
function isOwnTable(client: SqliteClient, table: string): boolean {
  const isIn = (schema: string) =>
    client
      .prepare(`select type, rootpage from ${schema}.sqlite_schema where name = ? collate nocase`)
      .raw()
      .get(table)
  const [type, page] = isIn('main') ?? []
  return type === 'table' && Number(page) > 0 && !isIn('temp')
}

function memoryFor(client: SqliteClient, careful: CarefulConnection): RowMemory | undefined {
  const isShared = client.pragma('locking_mode', { simple: true }) === 'normal'
  if (client.memory || !isShared || client.pragma('journal_mode', { simple: true }) !== 'wal')
    return undefined
  const index = WalIndex.of(client.name)
  if (!index) return undefined
  return new RowMemory({
    hasChanged() {
      // What is remembered would still be there; a statement finds out by itself, and a careful connection knows.
      if (!careful.assertReadable && !client.open) throw new Error('The connection is closed.')
      return index.hasChanged()
    },
    isCurrent: () => !isBusy(client),
  })
}

// An open query, such as one that is streamed, keeps the connection in the past, and better-sqlite3 from executing anything.
function isBusy(client: SqliteClient): boolean {
  try {
    client.exec('')
    return false
  } catch {
    return true
  }
}
