import type { MikroORM } from '@mikro-orm/core'
import { RowMemory } from './row-memory.ts'
import { WalIndex } from './wal-index.ts'

/** The values of a row's columns, in the order of the statement. */
export type Row = readonly unknown[]

/** A statement that reads at most one row. Throws where the database is busy or away: ask it in the usual way then. */
export interface PreparedRead {
  get(value: unknown): Row | undefined | Promise<Row | undefined>
}

/** How a statement is prepared. */
export interface ReadOptions {
  /** Whether rows may be remembered as long as nothing is committed. They are, unless this is `false`. */
  readonly remember?: boolean | undefined
}

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
  /** Throws if this is no moment for it: in a transaction, say. */
  assertReadable?(): void
}

/**
 * Prepares a statement on the driver that MikroORM opened, past its query builder; `undefined` if this is a driver that we
 * do not know how to ask. A row that was read is remembered until anything is committed, where that can be told exactly:
 * for SQLite with a write-ahead log.
 */
export async function prepareRead(
  orm: MikroORM,
  sql: string,
  { remember = true }: ReadOptions = {},
): Promise<PreparedRead | undefined> {
  const connection = orm.driver.getConnection('read') as CarefulConnection
  const client = await clientOf(connection)
  if (!isSqlite(client)) return undefined
  const statement = client.prepare(sql).raw()
  const memory = remember && isOfTables(client, sql) ? memoryFor(client) : undefined
  return {
    get(value) {
      // What is remembered would still be there.
      if (!client.open) throw new Error('The connection is closed.')
      if (connection.assertReadable) connection.assertReadable()
      // Somebody else's, on the connection that all share: what it has written may yet be taken back.
      else if (client.inTransaction) throw new Error('The connection is in a transaction.')
      return memory ? memory.row(value, () => statement.get(value)) : statement.get(value)
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
  return index && new RowMemory(index)
}

async function clientOf(connection: object): Promise<unknown> {
  const { getNativeClient } = connection as { getNativeClient?(): Promise<unknown> }
  return getNativeClient?.call(connection)
}

function isSqlite(client: unknown): client is SqliteClient {
  return typeof client === 'object' && client !== null && 'inTransaction' in client && 'prepare' in client
}
