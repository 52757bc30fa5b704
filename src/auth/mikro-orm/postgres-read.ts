import { endOfTurn } from '../turn.ts'
import { PostgresQuestion, PostgresStatement, type PostgresTypes } from './postgres-question.ts'
import type { PreparedRead, Row } from './prepared-read.ts'

interface Answer {
  readonly rows: readonly (Row | undefined)[]
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

/** Somebody who waits for the row of a value. */
interface Asked {
  readonly value: string
  readonly resolve: (row: Row | undefined) => void
  readonly reject: (error: unknown) => void
}

// More of them would keep one process of the server busy while others of it have nothing to do.
const mostTogether = 32

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
  const statement = new PostgresStatement(name, text, pool.options.types)
  return new PostgresRead(statement, async (question) => careful.ask?.(question) ?? pool.query(question))
}

/** A statement that is asked for all values of one turn of the event loop together, at its end: in one packet, answered by one. */
class PostgresRead implements PreparedRead {
  readonly #statement: PostgresStatement
  readonly #ask: (question: PostgresQuestion) => Promise<Answer>
  #asked: Asked[] = []

  constructor(statement: PostgresStatement, ask: (question: PostgresQuestion) => Promise<Answer>) {
    this.#statement = statement
    this.#ask = ask
  }

  get(value: string | number): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      const asked = { value: String(value), resolve, reject }
      if (this.#asked.push(asked) === 1) endOfTurn().then(() => this.#end())
    })
  }

  #end(): void {
    const all = this.#asked
    this.#asked = []
    for (let begin = 0; begin < all.length; begin += mostTogether)
      this.#answer(all.slice(begin, begin + mostTogether))
  }

  async #answer(asked: readonly Asked[]): Promise<void> {
    try {
      const values = asked.map(({ value }) => value)
      const { rows } = await this.#ask(new PostgresQuestion(this.#statement, values))
      for (const [i, { resolve }] of asked.entries()) resolve(rows[i])
    } catch (error) {
      // Somebody's value is none that the column can have: that is nothing to the others.
      if (asked.length > 1 && isOfValue(error)) for (const each of asked) this.#answer([each])
      else for (const { reject } of asked) reject(error)
    }
  }
}

// PostgreSQL's class of errors "data exception".
function isOfValue(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('22')
}
