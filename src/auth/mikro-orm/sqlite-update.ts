import type { EntityManager } from '@mikro-orm/core'
import type { Class } from '../class.ts'
import { primaryKeyOf } from './model.ts'
import { type CarefulConnection, isBusy, isOwnTable, type SqliteClient } from './sqlite-client.ts'
import { knownCommitsOf } from './sqlite-commits.ts'

/** What is to be changed in which rows of a model, as MikroORM takes it. */
export interface Update {
  readonly model: Class
  readonly where: object
  readonly change: object
}

interface Query {
  getQuery(): string
  getParams(): readonly unknown[]
  /** With the parameters in it, which is how MikroORM has it executed. */
  getFormattedQuery(): string
}

/** What MikroORM's SQL drivers have, which its widest type does not know. */
interface Builder {
  createQueryBuilder(model: Class): {
    update(change: object): { where(where: object): Query }
  }
}

/**
 * Updates rows so that no others are forgotten than those that it changes. In MikroORM's usual way, where all are, if that
 * cannot be done just now: if somebody's transaction is open, say, or if its driver knows how to wait for a busy database.
 */
export async function updateSqlite(em: EntityManager, client: SqliteClient, update: Update): Promise<void> {
  const { model, where, change } = update
  const connection = em.getConnection() as CarefulConnection
  try {
    if (isFree(em, client, connection) && updateAtOnce(em, client, update)) return
  } catch (error) {
    // That driver knows how to wait, and says what is wrong.
    if (!connection.assertWritable) throw error
  }
  await em.nativeUpdate<object>(model, where, change, { filters: false })
}

function isFree(em: EntityManager, client: SqliteClient, connection: CarefulConnection): boolean {
  connection.assertWritable?.(client)
  const isOurs = connection.assertWritable || !connection.assertReadable
  return isOurs && !isBusy(client) && !em.config.getLogger().isEnabled('query')
}

/** In a transaction of its own; `false` if a hook has anything to say about it. */
function updateAtOnce(em: EntityManager, client: SqliteClient, { model, where, change }: Update): boolean {
  const { tableName: table } = em.getMetadata().get<object>(model)
  const [key = ''] = primaryKeyOf(em, model).fieldNames
  const query = (em as unknown as Builder).createQueryBuilder(model).update(change).where(where)
  if (em.config.get('onQuery')(query.getQuery(), query.getParams()) !== query.getQuery()) return false
  const sql = `${query.getFormattedQuery()} returning ${em.getPlatform().quoteIdentifier(key)}`
  const statement = client.prepare(sql).raw()
  const update = () => {
    const before = changes(client)
    const keys = statement.all().map(([key]) => key)
    // A trigger or a foreign key may have changed others.
    return changes(client) - before === keys.length ? keys : undefined
  }
  const commits = knownCommitsOf(client)
  if (commits && isOwnTable(client, table) && !mayReplace(client, table)) commits.run(table, key, update)
  else update()
  return true
}

/** How many rows this connection has changed, also by triggers (https://sqlite.org/lang_corefunc.html#total_changes). */
function changes(client: SqliteClient): number {
  return Number(client.prepare('select total_changes()').raw().get()?.[0])
}

/** Whether a constraint of a table may have other rows deleted, which are not counted. */
function mayReplace(client: SqliteClient, table: string): boolean {
  const sql = "select 1 from main.sqlite_schema where name = ? collate nocase and sql like '%conflict%'"
  return client.prepare(sql).raw().get(table) !== undefined
}
