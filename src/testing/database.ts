import type { MikroORM } from '@mikro-orm/core'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { isPostgres } from '../database/is-postgres.ts'
import type { Site } from './site.ts'

const tables = ['users', 'user_tokens', 'one_time_tokens', 'admins', 'sessions'] as const

type Table = (typeof tables)[number]

type Row = Record<string, unknown>

/** Runs a statement on the database of a site. On SQLite and PostgreSQL, times are milliseconds, and booleans are 0 or 1. */
export function sql({ orm }: Pick<Site, 'orm'>, statement: string, values: unknown[] = []): Promise<Row[]> {
  // Both drivers are SQL drivers.
  const connection = orm.em.getConnection() as AbstractSqlConnection
  if (!isPostgres(orm.em)) return connection.execute(statement, values)
  return runOnPostgres(connection, toPostgres(orm, statement, values))
}

interface Pool {
  query(statement: object): Promise<{ rows: Row[] }>
}

async function runOnPostgres(connection: AbstractSqlConnection, text: string): Promise<Row[]> {
  const pool = (await connection.getNativeClient()) as unknown as Pool
  const { rows } = await pool.query({
    text,
    types: { getTypeParser: (type: number) => parsers[type] ?? String },
  })
  return rows
}

// The parsers by type OID of PostgreSQL: boolean, three integer types, timestamptz.
const parsers: Record<number, (text: string) => unknown> = {
  16: (text) => (text === 't' ? 1 : 0),
  20: Number,
  21: Number,
  23: Number,
  1184: (text) => new Date(text).getTime(),
}

/** A statement with its values, translated to PostgreSQL. */
export function toPostgres(orm: MikroORM, statement: string, values: unknown[]): string {
  const translated = statement
    .replace(/\b(\w+_at) = \1 ([-+]) (\?|\d+)/g, "$1 = $1 $2 $3 * interval '1 millisecond'")
    .replace(/\b(\w+_at) = (\?|\d+)/g, '$1 = to_timestamp($2 / 1000.0)')
  return orm.em.getPlatform().formatQuery(translated, values)
}

export async function count(site: Site, table: Table): Promise<number> {
  const [row] = await sql(site, `select count(*) as n from ${table}`)
  return Number(row?.n)
}

/** Writes the pending times of last use. Returns a counter of changed rows: only the difference of two results has a meaning. */
export async function changes(site: Pick<Site, 'orm' | 'writeUses'>): Promise<number> {
  const { em } = site.orm
  await site.writeUses()
  if (isPostgres(em) && !counted.has(em)) await countChanges(site)
  const [row] = await sql(
    site,
    isPostgres(em)
      ? 'select case when is_called then last_value else 0 end as n from changes'
      : 'select total_changes() as n',
  )
  return Number(row?.n)
}

const counted = new WeakSet<object>()

async function countChanges(site: Pick<Site, 'orm'>): Promise<void> {
  counted.add(site.orm.em)
  await sql(
    site,
    `create sequence changes;
     create function count_change() returns trigger language plpgsql as
       $$ begin perform nextval('changes'); return null; end $$`,
  )
  const passkeyTables = ['passkeys', 'used_challenges']
  const factorTables = ['totp_factors', 'recovery_codes', 'pending_sign_ins']
  for (const each of [...tables, 'events', 'attempts', 'devices', 'mails', ...passkeyTables, ...factorTables])
    await sql(
      site,
      `create trigger count_change after insert or update or delete on ${each}
       for each row execute function count_change()`,
    )
}

/** Makes all inserts or all updates of a table fail. Returns a function that repairs the table. */
export async function failWrites(
  site: Site,
  operation: 'insert' | 'update',
  table: string,
): Promise<() => Promise<void>> {
  if (!isPostgres(site.orm.em)) {
    await sql(
      site,
      `create trigger broken before ${operation} on ${table} begin select raise(abort, 'a rule of the database'); end`,
    )
    return async () => void (await sql(site, 'drop trigger broken'))
  }
  await sql(
    site,
    `create or replace function broken() returns trigger language plpgsql as
       $$ begin raise exception 'a rule of the database'; end $$;
     create trigger broken before ${operation} on ${table} for each statement execute function broken()`,
  )
  return async () => void (await sql(site, `drop trigger broken on ${table}`))
}

/** Writes the pending times of last use. Returns all rows of the account tables. */
export async function dump(site: Site): Promise<Record<string, Row[]>> {
  await site.writeUses()
  const entries = tables.map(
    async (table) => [table, await sql(site, `select * from ${table} order by 1`)] as const,
  )
  return Object.fromEntries(await Promise.all(entries))
}

/** Renames tables, so that statements of the site fail. Returns a function that restores the names. */
export async function hide(site: Site, ...hidden: Table[]): Promise<() => Promise<void>> {
  for (const table of hidden) await sql(site, `alter table ${table} rename to ${table}_hidden`)
  return async () => {
    for (const table of hidden) await sql(site, `alter table ${table}_hidden rename to ${table}`)
  }
}

/** Makes every further statement of a site fail. */
export async function cutOff({ orm, database }: Site): Promise<void> {
  if (isPostgres(orm.em)) return database.close()
  const native = await orm.em.getConnection().getNativeClient()
  // The client of the driver. MikroORM has no type for it.
  const client = native as { close(): void }
  client.close()
}
