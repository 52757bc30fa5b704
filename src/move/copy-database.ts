import { createHash } from 'node:crypto'
import {
  type EntityManager,
  type EntityMetadata,
  IsolationLevel,
  type MikroORM,
  type TransactionOptions,
} from '@mikro-orm/core'
import { isPostgres } from '../database/is-postgres.ts'
import { Failure } from '../failure.ts'
import { execute } from './execute.ts'
import { lastCopy, noteCopy } from './last-copy.ts'
import { isSame, pairs } from './pairs.ts'
import { rowsOf } from './rows.ts'
import { tablesOf } from './tables.ts'
import { addAndChange, deleteOthers } from './write.ts'

/** One of the two databases, and what messages call it. */
export interface Side {
  readonly orm: MikroORM
  readonly name: string
}

/** What became of a table. */
export interface Copied {
  readonly table: string
  /** How many rows it has on either side now. */
  readonly rows: number
  readonly added: number
  readonly changed: number
  readonly deleted: number
}

/**
 * Makes the target equal to what is in the source now, and compares them row by row: all of it or nothing. Whoever uses
 * the source meanwhile is not disturbed.
 * @throws {Failure} if the target holds what is not the source's, unless it is as this has left it the last time
 */
export function copyDatabase(source: Side, target: Side): Promise<Copied[]> {
  return inTransaction(
    source.orm,
    { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
    (from) =>
      inTransaction(target.orm, {}, (to) => copy({ from, to, tables: tablesOf(source.orm), source, target })),
  )
}

async function inTransaction<Result>(
  orm: MikroORM,
  options: TransactionOptions,
  work: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  const em = orm.em.fork()
  await em.begin(options)
  try {
    const result = await work(em)
    await em.commit()
    return result
  } catch (error) {
    await em.rollback()
    throw error
  }
}

interface Copying {
  readonly from: EntityManager
  readonly to: EntityManager
  /** Each behind those that its foreign keys are about. */
  readonly tables: readonly EntityMetadata[]
  readonly source: Side
  readonly target: Side
}

async function copy(copying: Copying): Promise<Copied[]> {
  const { from, to, tables, source } = copying
  await holdTarget(copying)
  if (!(await isUntouched(copying))) await refuseOthers(copying)
  const deleted: number[] = []
  for (const table of tables.toReversed()) deleted.unshift(await deleteOthers(table, from, to))
  const written: { added: number; changed: number }[] = []
  for (const table of tables) written.push(await addAndChange(table, from, to))

  const digest = new Digest()
  const copied: Copied[] = []
  for (const [i, table] of tables.entries()) {
    const rows = await compare(table, copying, digest)
    const { added = 0, changed = 0 } = written[i] ?? {}
    copied.push({ table: table.tableName, rows, added, changed, deleted: deleted[i] ?? 0 })
  }
  await noteCopy(to, { source: source.name, digest: digest.text })
  return copied
}

/** Keeps everybody else from writing there until the end, as SQLite does by itself. */
async function holdTarget({ to, tables }: Copying): Promise<void> {
  if (!isPostgres(to)) return
  const names = tables.map(({ tableName }) => tableName).join(', ')
  await execute(to, `lock table ${names} in share row exclusive mode`)
}

/**
 * Whether the target is what was copied from there the last time, to the last row.
 * @throws {Failure} if it was, and is not any more: what somebody has deleted there would come back
 */
async function isUntouched({ to, tables, source, target }: Copying): Promise<boolean> {
  const copy = await lastCopy(to)
  if (copy?.source !== source.name) return false
  const digest = new Digest()
  for (const table of tables) for await (const { text } of rowsOf(to, table)) digest.add(text)
  if (digest.text === copy.digest) return true
  throw new Failure(
    `${target.name} was used since it was copied from ${source.name}: take an empty database. Nothing was changed.`,
  )
}

async function refuseOthers({ from, to, tables, source, target }: Copying): Promise<void> {
  for (const table of tables)
    for await (const pair of pairs(rowsOf(from, table), rowsOf(to, table), { end: 'target' }))
      if (pair.target && !isSame(pair))
        throw new Failure(
          `${target.name} holds rows of ${table.tableName} that are not those of ${source.name}: take an empty database. Nothing was changed.`,
        )
}

/** Reads both sides again, and returns how many rows they have. */
async function compare(table: EntityMetadata, { from, to }: Copying, digest: Digest): Promise<number> {
  let rows = 0
  for await (const pair of pairs(rowsOf(from, table), rowsOf(to, table))) {
    if (!isSame(pair))
      throw new Failure(
        `After it was copied, ${table.tableName} is not the same on both sides. Nothing was changed: see that nobody uses the target, and run this again.`,
      )
    digest.add(pair.target?.text ?? '')
    rows += 1
  }
  return rows
}

/** Of all rows of a database, table by table. */
class Digest {
  readonly #hash = createHash('sha256')

  add(text: string): void {
    this.#hash.update(text).update('\n')
  }

  get text(): string {
    return this.#hash.copy().digest('base64url')
  }
}
