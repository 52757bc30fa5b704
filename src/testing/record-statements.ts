import type { TestContext } from 'node:test'
import type { MikroORM } from '@mikro-orm/core'
import { recordStatements as recordOfSqlite } from '../auth/testing/record-statements.ts'
import { isPostgres } from '../database/is-postgres.ts'

interface Pool {
  readonly Client: { readonly prototype: { query(question: unknown, ...more: unknown[]): unknown } }
  readonly _clients: readonly unknown[]
}

/** Every statement that the database is asked for this ORM until the test ends, whoever asked it and when. */
export async function recordStatements(t: TestContext, orm: MikroORM): Promise<string[]> {
  if (!isPostgres(orm.em)) return recordOfSqlite(t, orm)
  const statements: string[] = []
  // The driver's own client, which MikroORM's widest type does not know.
  const pool = (await orm.em.getConnection().getNativeClient()) as unknown as Pool
  const { query } = pool.Client.prototype
  t.mock.method(
    pool.Client.prototype,
    'query',
    function (this: unknown, question: unknown, ...more: unknown[]) {
      const text = textOf(question)
      // Where a transaction begins and ends, and what holds of a connection, is no part of it.
      const isAround = /^\s*(begin|commit|rollback|set |select pg_advisory)/.test(text)
      if (!pool._clients.includes(this) || isAround) return query.call(this, question, ...more)
      const note = () => statements.push(text.replaceAll('"', '`'))
      // What may have to wait for a lock is asked when it is sent; what has only been sent may yet be read too late.
      const tell = more.at(-1)
      if (isRead(text) && typeof tell === 'function')
        return query.call(this, question, ...more.slice(0, -1), (...answer: unknown[]) => {
          note()
          tell(...answer)
        })
      note()
      return query.call(this, question, ...more)
    },
  )
  return statements
}

function isRead(text: string): boolean {
  return /^select /.test(text) && !/ for (update|share)\b/.test(text)
}

function textOf(question: unknown): string {
  if (typeof question === 'string') return question
  return String(Reflect.get(Object(question), 'text') ?? '')
}
