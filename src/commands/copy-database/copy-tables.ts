import { addAbortListener } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { type EntityManager, TableNotFoundException, wrap } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { schema } from '../../schema.ts'
import { CommandError } from '../command-error.ts'

const batchSize = 500

interface Source {
  readonly em: EntityManager
  /** Aborted when the connection is lost. Its reason is the error. */
  readonly lost: AbortSignal
}

/**
 * Copies all rows in batches, and compares the number of rows of each table. Returns a line for each table.
 * @throws {CommandError} if the numbers differ
 */
export async function copyTables({ em: source, lost }: Source, target: EntityManager): Promise<string[]> {
  const lines: string[] = []
  for (const entity of schema.entities) {
    const { tableName, props } = source.getMetadata().get(entity)
    const populate = props.filter(({ lazy }) => lazy).map(({ name }) => name) as never
    const stream = source.stream(entity, { filters: false, populate })
    for await (const rows of batches(untilLost(stream, lost))) {
      // Copies plain objects, because an entity would carry the schema name of the source to the target.
      const copies = rows.map((row) => wrap(row).toPOJO())
      await target.insertMany(entity, copies)
      // SQLite's driver is synchronous, and its memory is freed only when the event loop turns.
      await turn()
    }
    const [read, written] = [await countRows(source, tableName), await countRows(target, tableName)]
    if (read !== written)
      throw new CommandError(
        `${tableName} has ${read} rows in the source, but ${written} in the copy. The copied rows were rolled back.`,
      )
    lines.push(`${tableName}: ${read} rows`)
  }
  return lines
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
