import { DriverException, type EntityManager, type EntityMetadata } from '@mikro-orm/core'
import { errorCode } from '../database/error-code.ts'
import { Failure } from '../failure.ts'
import { isSame, pairs } from './pairs.ts'
import { batch, type Row, rowsOf, withKeys } from './rows.ts'

/** Deletes from the target what the source does not have, and returns how many rows that was. */
export async function deleteOthers(
  table: EntityMetadata,
  from: EntityManager,
  to: EntityManager,
): Promise<number> {
  const others = new Batches((rows) =>
    to.nativeDelete(table.class, withKeys(table, rows), { filters: false }),
  )
  for await (const { source, target } of pairs(rowsOf(from, table), rowsOf(to, table), { end: 'target' }))
    if (!source && target) await others.add(target)
  return others.finish()
}

/** Writes what the target does not have, or has otherwise, and returns how many rows were new and how many were not. */
export async function addAndChange(
  table: EntityMetadata,
  from: EntityManager,
  to: EntityManager,
): Promise<{ added: number; changed: number }> {
  const added = new Batches((rows) => to.insertMany(table.class, dataOf(rows)))
  const changed = new Batches(async (rows) => {
    await to.upsertMany(table.class, dataOf(rows), { onConflictFields: table.primaryKeys })
    to.clear()
  })
  try {
    for await (const pair of pairs(rowsOf(from, table), rowsOf(to, table)))
      if (pair.source && !isSame(pair)) await (pair.target ? changed : added).add(pair.source)
    return { added: await added.finish(), changed: await changed.finish() }
  } catch (error) {
    // A driver's message holds the statement, with what is in the rows.
    if (!(error instanceof DriverException)) throw error
    const what = `Rows of ${table.tableName} could not be copied: ${errorCode(error)}.`
    throw new Failure(`${what} Nothing was changed.`, { cause: error })
  }
}

function dataOf(rows: readonly Row[]): object[] {
  return rows.map(({ data }) => data)
}

/** Rows that are written so many at a time. */
class Batches {
  readonly #write: (rows: readonly Row[]) => Promise<unknown>
  #waiting: Row[] = []
  #written = 0

  constructor(write: (rows: readonly Row[]) => Promise<unknown>) {
    this.#write = write
  }

  async add(row: Row): Promise<void> {
    this.#waiting.push(row)
    if (this.#waiting.length >= batch) await this.#flush()
  }

  /** Writes those that still wait, and returns how many there were in all. */
  async finish(): Promise<number> {
    if (this.#waiting.length > 0) await this.#flush()
    return this.#written
  }

  async #flush(): Promise<void> {
    await this.#write(this.#waiting)
    this.#written += this.#waiting.length
    this.#waiting = []
  }
}
