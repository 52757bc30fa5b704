import { hash } from 'node:crypto'
import type { Key } from '../look-ups.ts'
import { NotPrepared } from './not-prepared.ts'
import { keyColumn, keyTable } from './query-builder.ts'

/** A row: values by column name. */
export type Row = Readonly<Record<string, unknown>>
/** Returns a row or `undefined` for each key, in order. Throws if the database fails, or if the caller must use `em.findOne` instead. */
export type Load = (keys: readonly Key[]) => (Row | undefined)[] | Promise<(Row | undefined)[]>

/** A connection of MikroORM, or the application's subclass of it. */
export interface Connection {
  getNativeClient?(): Promise<object>
}

interface Sqlite {
  readonly inTransaction: boolean
  prepare(sql: string): { get(key: Key | bigint): Row | undefined }
  exec(sql: string): unknown
}

interface Postgres {
  connect(): Promise<{ query(query: object): Promise<{ rows: Row[] }>; release(): void }>
}

/** Prepares a query with `keyColumn`, for keys of a type of PostgreSQL. Throws `NotPrepared` unless the native client is better-sqlite3 or pg. */
export async function prepareStatement(connection: Connection, sql: string, keyType: string): Promise<Load> {
  const client = await connection.getNativeClient?.()
  if (client && 'prepare' in client) return prepareOnSqlite(client as Sqlite, sql.replace(keyColumn, '?'))
  if (client && 'totalCount' in client) return prepareOnPostgres(client as unknown as Postgres, sql, keyType)
  throw new NotPrepared('the database driver is neither better-sqlite3 nor pg')
}

function prepareOnSqlite(client: Sqlite, sql: string): Load {
  const statement = client.prepare(sql)
  // better-sqlite3 binds a number as a float, which SQLite compares with a text column as `1.0`.
  const get = (key: Key) => statement.get(typeof key === 'number' ? BigInt(key) : key)
  return (keys) => {
    if (client.inTransaction)
      throw new NotPrepared('a transaction is open on the connection', { isPassing: true })
    // Even an empty `exec` throws while another query is streamed. Without it, the look-up would read the snapshot of that query.
    client.exec(keys.length > 1 ? 'begin' : '')
    // The transaction takes SQLite's read lock once for all keys.
    try {
      return keys.map(get)
    } finally {
      client.exec(keys.length > 1 ? 'commit' : '')
    }
  }
}

let statements = 0

function prepareOnPostgres(pool: Postgres, sql: string, type: string): Load {
  const text = `select q.*, ${keyTable}.n::int as ${keyTable} from unnest($1::${type}[]) with ordinality as ${keyTable} (v, n) cross join lateral (${sql}) as q`
  // Processes may share connections through PgBouncer, so the name must identify the text.
  const name = `koa-authenticators-${++statements}-${hash('sha256', text, 'base64url').slice(0, 32)}`
  return async (keys) => {
    const client = await pool.connect()
    // Unlike `pool.query`, keeps the connection open after a failed query.
    const query = client.query({ name, text, values: [keys] }).finally(() => client.release())
    const { rows } = await query
    const found = new Map(rows.map(({ [keyTable]: n, ...row }) => [n, row]))
    return keys.map((_, i) => found.get(i + 1))
  }
}
