import { isPostgres } from '../database/is-postgres.ts'
import { sql } from './database.ts'
import type { Site } from './site.ts'

/** All rows of all tables except `events`, which records failed attempts too. */
export async function dumpAll(site: Site): Promise<Record<string, Record<string, unknown>[]>> {
  await site.writeUses()
  const all = isPostgres(site.orm.em)
    ? "select tablename as name from pg_tables where schemaname = 'public'"
    : "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'"
  const tables = (await sql(site, all)).filter(({ name }) => name !== 'events')
  const entries = tables.map(
    async ({ name }) => [String(name), await sql(site, `select * from ${name} order by 1`)] as const,
  )
  return Object.fromEntries(await Promise.all(entries))
}
