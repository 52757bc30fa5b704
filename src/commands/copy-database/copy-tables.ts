import { setImmediate as turn } from 'node:timers/promises'
import { type EntityMetadata, type EntityProperty, TableNotFoundException } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { isPostgres } from '../../database/is-postgres.ts'
import { schema } from '../../schema.ts'
import { CommandError } from '../command-error.ts'
import { progressOf } from './progress.ts'

const batchSize = 500

type Row = Record<string, unknown>

/**
 * Copies all rows in batches, and compares the number of rows of each table. Returns a line for each table.
 * @param report receives lines about the progress
 * @throws {CommandError} if the numbers differ
 */
export async function copyTables(
  source: SqlEntityManager,
  target: SqlEntityManager,
  report: (line: string) => void,
): Promise<string[]> {
  const counts = new Map<EntityMetadata, number>()
  for (const entity of schema.entities) {
    const meta = target.getMetadata().get(entity)
    counts.set(meta, await countRows(source, meta))
  }
  const onRows = progressOf(
    [...counts.values()].reduce((sum, count) => sum + count),
    report,
  )
  const lines: string[] = []
  for (const [meta, read] of counts) {
    for await (const rows of batches(source, meta)) {
      const copies = rows.map((row) => convert(row, meta, isPostgres(target)))
      await target.getKysely<Record<string, Row>>().insertInto(meta.tableName).values(copies).execute()
      onRows(rows.length)
      // SQLite's driver is synchronous, and its memory is freed only when the event loop turns.
      await turn()
    }
    const written = await countRows(target, meta)
    if (read !== written)
      throw new CommandError(
        `${meta.tableName} has ${read} rows in the source, but ${written} in the copy. The copied rows were rolled back.`,
      )
    lines.push(`${meta.tableName}: ${read} rows`)
  }
  return lines
}

/** The number of rows. A missing table counts as empty. */
export async function countRows(em: SqlEntityManager, { tableName }: EntityMetadata): Promise<number> {
  try {
    const [row] = await em.execute<{ count: number | string }[]>(`select count(*) as count from ${tableName}`)
    return Number(row?.count)
  } catch (error) {
    if (error instanceof TableNotFoundException) return 0
    throw error
  }
}

/** Yields the rows of a table in the order of its primary key. */
async function* batches(em: SqlEntityManager, meta: EntityMetadata): AsyncGenerator<Row[]> {
  const keys = meta.getPrimaryProps().flatMap(({ fieldNames }) => fieldNames)
  const order = keys.join(', ')
  let rows: Row[] = []
  do {
    const last = rows.at(-1)
    const after = last ? `where (${order}) > (${keys.map(() => '?').join(', ')})` : ''
    rows = await em.execute<Row[]>(
      `select * from ${meta.tableName} ${after} order by ${order} limit ${batchSize}`,
      last && keys.map((key) => last[key]),
    )
    if (rows.length > 0) yield rows
  } while (rows.length === batchSize)
}

/** Converts the values of a row to those of the target. SQLite has times in milliseconds, and 0 and 1 for booleans. */
function convert(row: Row, { props }: EntityMetadata, toPostgres: boolean): Row {
  const types = new Map(
    props.flatMap(({ fieldNames = [], runtimeType }) =>
      fieldNames.map((name) => [name, runtimeType] as const),
    ),
  )
  const values = Object.entries(row).map(([column, value]) => [
    column,
    value === null ? null : convertValue(value, types.get(column), toPostgres),
  ])
  return Object.fromEntries(values)
}

function convertValue(
  value: unknown,
  type: EntityProperty['runtimeType'] | undefined,
  toPostgres: boolean,
): unknown {
  if (type === 'boolean') return toPostgres ? Boolean(value) : Number(value)
  if (type === 'Date')
    return toPostgres ? new Date(value as string | number) : new Date(value as string).getTime()
  return typeof value === 'object' ? JSON.stringify(value) : value
}
