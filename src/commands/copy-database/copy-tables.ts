import { addAbortListener } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { type EntityClass, type EntityManager, TableNotFoundException, wrap } from '@mikro-orm/core'
import type { SqlEntityManager, SqliteConnection } from '@mikro-orm/sqlite'
import type Database from 'better-sqlite3'
import { isPostgres } from '../../database/is-postgres.ts'
import { schema } from '../../schema.ts'
import { CommandError } from '../command-error.ts'
import { copyRows, type PostgresClient } from './copy-rows.ts'
import { progressOf } from './progress.ts'

const batchSize = 500

interface Source {
  readonly em: EntityManager
  /** Aborted when the connection is lost. Its reason is the error. */
  readonly lost: AbortSignal
}

interface Target {
  readonly em: EntityManager
  /** The connection of the transaction. PostgreSQL only. */
  readonly client: PostgresClient | undefined
}

/**
 * Copies all rows in batches, and compares the number of rows of each table. Returns a line for each table.
 * @param report receives lines about the progress
 * @throws {CommandError} if the numbers differ
 */
export async function copyTables(
  source: Source,
  target: Target,
  report: (line: string) => void,
): Promise<string[]> {
  const counts = new Map<string, number>()
  for (const entity of schema.entities) {
    const { tableName } = source.em.getMetadata().get(entity)
    counts.set(tableName, await countRows(source.em, tableName))
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count)
  const onRows = progressOf(total, report)
  const lines: string[] = []
  for (const entity of schema.entities) {
    const { tableName } = source.em.getMetadata().get(entity)
    await copyTable(entity, source, target, onRows)
    const [read, written] = [counts.get(tableName), await countRows(target.em, tableName)]
    if (read !== written)
      throw new CommandError(
        `${tableName} has ${read} rows in the source, but ${written} in the copy. The copied rows were rolled back.`,
      )
    lines.push(`${tableName}: ${read} rows`)
  }
  return lines
}

async function copyTable(
  entity: EntityClass<object>,
  source: Source,
  { em, client }: Target,
  onRows: (count: number) => void,
): Promise<void> {
  if (client && !isPostgres(source.em)) {
    const connection = source.em.getConnection() as SqliteConnection
    const database: Database.Database = await connection.getNativeClient()
    try {
      return await copyRows(database, client, em.getMetadata().get(entity), onRows)
    } catch (error) {
      throw error instanceof Error ? em.getDriver().convertException(error) : error
    }
  }
  const { props } = source.em.getMetadata().get(entity)
  const populate = props.filter(({ lazy }) => lazy).map(({ name }) => name) as never
  const stream = source.em.stream(entity, { filters: false, populate })
  for await (const rows of batches(untilLost(stream, source.lost))) {
    // Copies plain objects, because an entity would carry the schema name of the source to the target.
    const copies = rows.map((row) => wrap(row).toPOJO())
    await em.insertMany(entity, copies)
    onRows(rows.length)
    // SQLite's driver is synchronous, and its memory is freed only when the event loop turns.
    await turn()
  }
}

/** Returns the name of a table that has rows, or `undefined`. A missing table counts as empty. */
export async function findUsedTable(em: EntityManager): Promise<string | undefined> {
  for (const entity of schema.entities) {
    const { tableName } = em.getMetadata().get(entity)
    if ((await countRows(em, tableName)) > 0) return tableName
  }
  return undefined
}

async function countRows(em: EntityManager, table: string): Promise<number> {
  const [row] = await select<{ count: number | string }>(em, `select count(*) as count from ${table}`)
  return Number(row?.count ?? 0)
}

async function select<Row>(em: EntityManager, statement: string): Promise<Row[]> {
  try {
    // Both drivers of the site are SQL drivers.
    return await (em as SqlEntityManager).execute<Row[]>(statement)
  } catch (error) {
    if (error instanceof TableNotFoundException) return []
    throw error
  }
}

/** Throws when the connection is lost, because the cursor of `pg` would wait forever. */
async function* untilLost<Row>(rows: AsyncIterable<Row>, lost: AbortSignal): AsyncGenerator<Row> {
  const iterator = rows[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await unlessAborted(iterator.next(), lost)
      if (done) return
      yield value
    }
  } finally {
    if (iterator.return) await unlessAborted(iterator.return(), lost)
  }
}

async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  // A new promise for each wait, because a shared pending promise would keep every row in memory.
  using _listener = addAbortListener(signal, () => reject(signal.reason))
  return await Promise.race([work, promise])
}

async function* batches<Row>(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let batch: Row[] = []
  for await (const row of rows) {
    batch.push(row)
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
