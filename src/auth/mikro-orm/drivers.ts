export type Key = string | number
/** The values of a row's columns, by their names. */
export type Row = Readonly<Record<string, unknown>>

/** Returns a row for each key, in the same order. Throws where MikroORM should be asked instead. */
export type Load = (keys: Key[]) => (Row | undefined)[] | Promise<(Row | undefined)[]>

/** A connection of MikroORM's, perhaps one of the application's own. */
export interface Connection {
  getNativeClient?(): Promise<object>
  /** A connection may have its own way to ask, with a time limit, say. */
  ask?(query: object): Promise<{ rows: Row[] }>
  /** A connection may know that it cannot be read at the moment; throws then. */
  assertReadable?(client: object): void
}

interface Sqlite {
  readonly inTransaction: boolean
  prepare(sql: string): { get(key: Key | bigint): Row | undefined }
  exec(sql: string): unknown
}

interface Postgres {
  query(query: object | string): Promise<{ rows: Row[] }>
}

let prepared = 0

/** Whether the driver is pg, where rows are locked one by one. */
export async function isPostgres(connection: object): Promise<boolean> {
  const client = await (connection as Connection).getNativeClient?.()
  return client !== undefined && 'totalCount' in client
}

/**
 * Prepares a query on the driver that MikroORM has opened. Throws if that is neither better-sqlite3 nor pg.
 *
 * @param sql the query, with that placeholder for the key
 */
export async function loader(connection: Connection, sql: (placeholder: string) => string): Promise<Load> {
  const client = await connection.getNativeClient?.()
  if (client && 'prepare' in client) return fromSqlite(client as Sqlite, connection, sql('?'))
  if (client && 'totalCount' in client) return fromPostgres(client as unknown as Postgres, connection, sql)
  throw new Error('There is no way to prepare statements for this driver.')
}

function fromSqlite(client: Sqlite, connection: Connection, sql: string): Load {
  connection.assertReadable?.(client)
  const statement = client.prepare(sql)
  // A number would be bound as one with a fraction, which is another text.
  const get = (key: Key) => statement.get(Number.isInteger(key) ? BigInt(key) : key)
  return (keys) => {
    connection.assertReadable?.(client)
    if (client.inTransaction) throw new Error('Somebody else has a transaction open.')
    if (keys.length === 1) return keys.map(get)
    // One transaction for all of them: SQLite takes its locks once.
    client.exec('begin')
    try {
      return keys.map(get)
    } finally {
      client.exec('commit')
    }
  }
}

async function fromPostgres(
  pool: Postgres,
  connection: Connection,
  sql: (placeholder: string) => string,
): Promise<Load> {
  // A connection prepares it under this name once.
  const name = `koa-authenticators-${++prepared}`
  const type = await typeOfKey(pool, name, sql('$1'))
  const text = `select k.n::int as ${place}, q.* from unnest($1::${type}[]) with ordinality as k (v, n) cross join lateral (${sql('k.v')}) as q`
  return async (keys) => {
    const question = { name, text, values: [keys] }
    const { rows } = await (connection.ask?.(question) ?? pool.query(question))
    const found = new Map(rows.map(({ [place]: n, ...row }) => [n, row]))
    return keys.map((_, i) => found.get(i + 1))
  }
}

const place = 'koa_authenticators_place'

/** What PostgreSQL takes the parameter of a query for, so that it is compared in many as in one. */
async function typeOfKey(pool: Postgres, name: string, sql: string): Promise<string> {
  const statement = `"type of ${name}"`
  // Several statements at once are sent by one connection.
  const results = await pool.query(`prepare ${statement} as ${sql};
    select parameter_types[1]::text as type from pg_prepared_statements where name = 'type of ${name}';
    deallocate ${statement}`)
  const [, answer] = results as unknown as { rows: Row[] }[]
  return String(Reflect.get(answer?.rows[0] ?? {}, 'type'))
}
