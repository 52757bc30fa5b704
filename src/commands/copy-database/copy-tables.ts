import { setImmediate as turn } from 'node:timers/promises'
import { type EntityClass, type EntityManager, wrap } from '@mikro-orm/core'
import type { SqliteConnection } from '@mikro-orm/sqlite'
import type Database from 'better-sqlite3'
import { isPostgres } from '../../database/is-postgres.ts'
import { select } from '../../database/select.ts'
import { schema } from '../../schema.ts'
import { CommandError } from '../command-error.ts'
import { pages } from '../pages.ts'
import { copyRows, type PostgresClient } from './copy-rows.ts'
import { progressOf } from './progress.ts'

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
  source: EntityManager,
  target: Target,
  report: (line: string) => void,
): Promise<string[]> {
  const counts = new Map<EntityClass<object>, number>()
  for (const entity of schema.entities) counts.set(entity, await countRows(source, entity))
  const total = [...counts.values()].reduce((sum, count) => sum + count)
  const onRows = progressOf(total, report)
  const lines: string[] = []
  for (const entity of schema.entities) {
    const { tableName } = source.getMetadata().get(entity)
    await copyTable(entity, source, target, onRows)
    const [read, written] = [counts.get(entity), await countRows(target.em, entity)]
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
  source: EntityManager,
  { em, client }: Target,
  onRows: (count: number) => void,
): Promise<void> {
  if (client && !isPostgres(source)) {
    const connection = source.getConnection() as SqliteConnection
    const database: Database.Database = await connection.getNativeClient()
    try {
      return await copyRows(database, client, em.getMetadata().get(entity), onRows)
    } catch (error) {
      throw error instanceof Error ? em.getDriver().convertException(error) : error
    }
  }
  const { props, primaryKeys } = source.getMetadata().get(entity)
  const populate = props.filter(({ lazy }) => lazy).map(({ name }) => name)
  const orderBy = Object.fromEntries(primaryKeys.map((key) => [key, 'asc'] as const))
  for await (const rows of pages(source, entity, { populate, orderBy })) {
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
  for (const entity of schema.entities)
    if ((await countRows(em, entity)) > 0) return em.getMetadata().get(entity).tableName
  return undefined
}

async function countRows(em: EntityManager, entity: EntityClass<object>): Promise<number> {
  const { tableName } = em.getMetadata().get(entity)
  const [row] = await select<{ count: number | string }>(em, `select count(*) as count from ${tableName}`)
  return Number(row?.count ?? 0)
}
