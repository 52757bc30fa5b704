import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { EntityMetadata } from '@mikro-orm/core'
import type Database from 'better-sqlite3'
import { type CopyStreamQuery, from } from 'pg-copy-streams'

// In characters.
const chunkSize = 65_536

/** A connection of `pg`. */
export interface PostgresClient {
  query(stream: CopyStreamQuery): CopyStreamQuery
}

/** Copies a table of SQLite to the same table of PostgreSQL by `COPY`. Calls `onRows` with the number of rows of each chunk. */
export async function copyRows(
  source: Database.Database,
  target: PostgresClient,
  meta: EntityMetadata,
  onRows: (count: number) => void,
): Promise<void> {
  const statement = source.prepare(`select * from ${meta.tableName}`).raw()
  const columns = statement.columns().map(({ name }) => name)
  const times = columns.map((name) => isTime(meta, name))
  const stream = target.query(from(`copy ${meta.tableName} (${columns.join(', ')}) from stdin`))
  await pipeline(Readable.from(chunks()), stream)

  function* chunks(): Generator<string> {
    let [text, count] = ['', 0]
    for (const row of statement.iterate() as Iterable<unknown[]>) {
      text += `${row.map((value, i) => field(value, times[i])).join('\t')}\n`
      count += 1
      if (text.length < chunkSize) continue
      yield text
      onRows(count)
      text = ''
      count = 0
    }
    yield text
    onRows(count)
  }
}

/** Whether a column has times, which are milliseconds since 1970 on SQLite. */
function isTime({ props }: EntityMetadata, column: string): boolean {
  const property = props.find(({ fieldNames }) => fieldNames?.includes(column))
  return property?.columnTypes[0]?.startsWith('timestamp') ?? false
}

/** A value in the text format of `COPY` (https://www.postgresql.org/docs/current/sql-copy.html). */
function field(value: unknown, isTime = false): string {
  if (value === null) return '\\N'
  if (isTime && typeof value === 'number') return new Date(value).toISOString()
  return String(value).replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? character)
}

const escapes: Partial<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
