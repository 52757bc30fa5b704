import type { TestContext } from 'node:test'
import type { MikroORM } from '@mikro-orm/core'
import { recordStatements as recordOfSqlite } from '../auth/testing/record-statements.ts'
import { isPostgres } from '../database/is-postgres.ts'

interface Pool {
  readonly Client: { readonly prototype: { query(statement: unknown, ...more: unknown[]): unknown } }
  readonly _clients: readonly unknown[]
}

/**
 * Records the statements of an ORM until the test ends. A read is recorded when its result has arrived, because until then it may see
 * later writes of other connections. On PostgreSQL, other statements are recorded when they are sent.
 */
export async function recordStatements(t: TestContext, orm: MikroORM): Promise<string[]> {
  if (!isPostgres(orm.em)) return recordOfSqlite(t, orm)
  const statements: string[] = []
  // The pool of the driver. MikroORM has no type for it.
  const pool = (await orm.em.getConnection().getNativeClient()) as unknown as Pool
  const { query } = pool.Client.prototype
  t.mock.method(
    pool.Client.prototype,
    'query',
    function (this: unknown, statement: unknown, ...more: unknown[]) {
      const text = textOf(statement)
      // Omits the begin and end of transactions, settings of a connection, and advisory locks.
      const isControl = /^\s*(begin|commit|rollback|set |select pg_advisory)/.test(text)
      if (!pool._clients.includes(this) || isControl) return query.call(this, statement, ...more)
      const record = () => void statements.push(text.replaceAll('"', '`'))
      const result = query.call(this, statement, ...more)
      const isRead = /^select /.test(text) && !/ for (update|share)\b/.test(text)
      // The driver of the site calls `query` without a callback, so `pg` returns a promise.
      if (isRead && result instanceof Promise) return result.finally(record)
      record()
      return result
    },
  )
  return statements
}

function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement
  return String(Reflect.get(Object(statement), 'text') ?? '')
}
