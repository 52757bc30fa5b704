import type { Site } from './site.ts'

const tables = ['users', 'user_tokens', 'admins', 'sessions'] as const

type Table = (typeof tables)[number]

/** Runs a statement beside the site. */
export function sql({ orm }: Pick<Site, 'orm'>, statement: string, values: unknown[] = []): Promise<Row[]> {
  return orm.em.getConnection().execute(statement, values)
}

type Row = Record<string, unknown>

/** How many rows a table has. */
export async function count(site: Site, table: Table): Promise<number> {
  const [row] = await sql(site, `select count(*) as n from ${table}`)
  return Number(row?.n)
}

/** Everything that is stored. */
export async function dump(site: Site): Promise<Record<string, Row[]>> {
  const entries = tables.map(
    async (table) => [table, await sql(site, `select * from ${table} order by 1`)] as const,
  )
  return Object.fromEntries(await Promise.all(entries))
}

/** Takes tables away, as far as the site can see; what it returns brings them back. */
export async function hide(site: Site, ...hidden: Table[]): Promise<() => Promise<void>> {
  for (const table of hidden) await sql(site, `alter table ${table} rename to ${table}_hidden`)
  return async () => {
    for (const table of hidden) await sql(site, `alter table ${table}_hidden rename to ${table}`)
  }
}

/** Closes the connection under the site's feet: no statement works from now on. */
export async function cutOff({ orm }: Site): Promise<void> {
  const native = await orm.em.getConnection().getNativeClient()
  // The driver's own client, which MikroORM's widest type does not know.
  const client = native as { close(): void }
  client.close()
}
