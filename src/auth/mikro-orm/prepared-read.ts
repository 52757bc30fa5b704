import type { MikroORM } from '@mikro-orm/core'
import type { Answer, Row } from './answer.ts'
import { isPostgres, readPostgres } from './postgres-read.ts'
import { type CarefulConnection, isSqlite } from './sqlite-client.ts'
import { readSqlite } from './sqlite-read.ts'

/** A statement that reads at most one row. */
export interface PreparedRead {
  /** Asks for the row of that value. What goes wrong shows in the answer. */
  ask(value: string | number): Answer
  /**
   * The row at once, if it is remembered, for one of requests that go on together and had all come by then; `undefined` where it has
   * to be asked for. Throws if this is no moment to tell.
   */
  known?(value: string | number, these: object): Row | undefined
}

/**
 * The connection that all share is in a transaction, which may yet be taken back, or a query is open by it, such as one that is
 * streamed, which keeps it in the past.
 */
export class Busy extends Error {
  override name = 'Busy'
}

/** A table that a statement reads from, its primary key, and which of the statement's columns that is. */
export interface KeyColumn {
  readonly table: string
  readonly key: string
  readonly column: number
}

/** A statement that reads one row. */
export interface ReadStatement {
  /** With one question mark, which stands for the value. */
  readonly sql: string
  /** All that it reads from. */
  readonly keys: readonly KeyColumn[]
}

/** How a statement is prepared. */
export interface ReadOptions {
  /** Whether rows that are asked for again may be remembered until they may have changed. They are, unless this is `false`. */
  readonly remember?: boolean | undefined
}

/**
 * Prepares a statement on the driver that MikroORM opened, past its query builder; `undefined` if this is a driver that we
 * do not know how to ask: we know better-sqlite3 and `pg`. A row that is asked for again is remembered until anything is
 * committed, where that can be told exactly: for SQLite with a write-ahead log, on Linux.
 */
export async function prepareRead(
  orm: MikroORM,
  statement: ReadStatement,
  { remember = true }: ReadOptions = {},
): Promise<PreparedRead | undefined> {
  const connection = orm.driver.getConnection('read')
  const client = await clientOf(connection)
  if (isSqlite(client)) return readSqlite(client, connection, { ...statement, remember })
  if (isPostgres(client)) return readPostgres(client, connection, statement.sql)
  return undefined
}

/** Throws where the connection knows that this is no moment to read by it: whatever is prepared now would be in vain. */
export async function assertReadable(orm: MikroORM): Promise<void> {
  const connection = orm.driver.getConnection('read')
  const client = await clientOf(connection)
  const careful = connection as CarefulConnection
  if (isSqlite(client)) careful.assertReadable?.(client)
}

/** The driver's own client, which MikroORM's widest type does not know; `undefined` if it has none. */
export async function clientOf(connection: object): Promise<unknown> {
  const { getNativeClient } = connection as { getNativeClient?(): Promise<unknown> }
  return getNativeClient?.call(connection)
}
