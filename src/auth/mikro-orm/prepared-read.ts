import type { MikroORM } from '@mikro-orm/core'

/** The values of a row's columns, in the order of the statement. */
export type Row = readonly unknown[]

/** A statement that reads at most one row, prepared once. Throws where the database is busy or away: ask it in the usual way then. */
export interface PreparedRead {
  get(value: unknown): Row | undefined | Promise<Row | undefined>
}

/** A connection that prepares statements by itself, because it shares its client in a way of its own. */
interface Preparing {
  prepareRead(sql: string): PreparedRead
}

/** What better-sqlite3 hands out as its database. */
interface SqliteClient {
  readonly inTransaction: boolean
  prepare(sql: string): { raw(): { get(value: unknown): Row | undefined } }
}

/**
 * Prepares a statement on the driver that MikroORM opened, past its query builder; `undefined` if this is a driver that we
 * do not know how to ask.
 */
export async function prepareRead(orm: MikroORM, sql: string): Promise<PreparedRead | undefined> {
  const connection: unknown = orm.driver.getConnection('read')
  if (isPreparing(connection)) return connection.prepareRead(sql)
  const client = await clientOf(connection)
  if (!isSqlite(client)) return undefined
  const statement = client.prepare(sql).raw()
  return {
    get(value) {
      // Somebody else's, on the connection that all share: what it has written may yet be taken back.
      if (client.inTransaction) throw new Error('The connection is in a transaction.')
      return statement.get(value)
    },
  }
}

function isPreparing(connection: unknown): connection is Preparing {
  return typeof connection === 'object' && connection !== null && 'prepareRead' in connection
}

async function clientOf(connection: unknown): Promise<unknown> {
  const { getNativeClient } = connection as { getNativeClient?(): Promise<unknown> }
  return getNativeClient?.call(connection)
}

function isSqlite(client: unknown): client is SqliteClient {
  return typeof client === 'object' && client !== null && 'inTransaction' in client && 'prepare' in client
}
