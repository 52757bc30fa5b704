import type { PreparedRead, Row } from './prepared-read.ts'

/** What `pg` takes as a question: with a name, each connection prepares it once. */
export interface Question {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
  /** Rows come as lists of values. */
  readonly rowMode: 'array'
}

interface Answer {
  readonly rows: Row[]
}

/** What `pg` hands out as a pool of connections. */
interface PostgresPool {
  readonly totalCount: number
  query(question: Question): Promise<Answer>
}

/** A connection with a way of its own to ask, which waits for nobody too long, say. */
interface CarefulConnection {
  ask?(question: Question): Promise<Answer>
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
  const text = sql.replace('?', () => '$1')
  return {
    async get(value) {
      const question: Question = { name, text, values: [value], rowMode: 'array' }
      const { rows } = await (careful.ask ? careful.ask(question) : pool.query(question))
      return rows[0]
    },
  }
}
