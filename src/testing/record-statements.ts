import type { TestContext } from 'node:test'
import type { MikroORM } from '@mikro-orm/core'
import { recordStatements as recordOfSqlite } from '../auth/testing/record-statements.ts'
import { isPostgres } from '../database/is-postgres.ts'

interface Pool {
  readonly Client: { readonly prototype: { query(statement: unknown, ...more: unknown[]): unknown } }
  readonly _clients: readonly unknown[]
}

/** Records the statements of an ORM until the test ends. On PostgreSQL, a statement is recorded when it is sent. */
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
      statements.push(text.replaceAll('"', '`'))
      return query.call(this, statement, ...more)
    },
  )
  return statements
}

function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement
  return String(Reflect.get(Object(statement), 'text') ?? '')
}
