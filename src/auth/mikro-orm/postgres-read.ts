import { PostgresQuestion, PostgresStatement, type PostgresTypes } from './postgres-question.ts'
import type { PreparedRead, Row } from './prepared-read.ts'

interface Answer {
  readonly rows: readonly Row[]
}

/** What `pg` hands out as a pool of connections, with the types that MikroORM has it read. */
interface PostgresPool {
  readonly totalCount: number
  readonly options: { readonly types: PostgresTypes }
  query(question: PostgresQuestion): Promise<Answer>
}

/** A connection with a way of its own to ask, which waits for nobody too long, say. */
interface CarefulConnection {
  ask?(question: PostgresQuestion): Promise<Answer>
}

let prepared = 0

export function isPostgres(client: unknown): client is PostgresPool {
  return typeof client === 'object' && client !== null && 'totalCount' in client && 'query' in client
}

/** Prepares a statement under a name, on whichever connection of the pool it is asked. */
export function readPostgres(pool: PostgresPool, connection: object, sql: string): PreparedRead {
  const careful = connection as CarefulConnection
  // Another each time: what a connection has prepared under a name it does not forget, be it out of date.
  const name = `koa-authenticators-${++prepared}`
  const statement = new PostgresStatement(
    name,
    sql.replace('?', () => '$1'),
    pool.options.types,
  )
  return {
    async get(value) {
      const question = new PostgresQuestion(statement, String(value))
      const { rows } = await (careful.ask ? careful.ask(question) : pool.query(question))
      return rows[0]
    },
  }
}
