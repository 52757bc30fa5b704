import { randomBytes } from 'node:crypto'
import { endOfTurn } from '../turn.ts'
import { Answer, type Row } from './answer.ts'
import {
  type PostgresAnswer,
  PostgresQuestion,
  PostgresStatement,
  type PostgresTypes,
} from './postgres-question.ts'
import type { PreparedRead } from './prepared-read.ts'

/** What `pg` hands out as a pool of connections, with the types that MikroORM has it read. */
interface PostgresPool {
  readonly totalCount: number
  readonly options: { readonly types: PostgresTypes }
  query(question: PostgresQuestion): Promise<PostgresAnswer>
}

/** A connection with a way of its own to ask, which waits for nobody too long, say. */
interface CarefulConnection {
  ask?(question: PostgresQuestion): Promise<PostgresAnswer>
}

/** Somebody who waits for the row of a value. */
class Asked extends Answer {
  readonly value: string
  readonly #isReady: () => void

  constructor(value: string) {
    const { promise, resolve } = Promise.withResolvers<void>()
    super(promise)
    this.value = value
    this.#isReady = resolve
  }

  override give(row: Row | undefined): void {
    super.give(row)
    this.#isReady()
  }

  override fail(error: unknown): void {
    super.fail(error)
    this.#isReady()
  }
}

// The server answers them one after the other, and all of them have one deadline.
const mostTogether = 16
// A server that takes longer for them, in milliseconds, is ill: whoever asks together waits for one another then.
const longestTogether = 100

// Another copy of this module may prepare statements on the same connections.
const copy = randomBytes(6).toString('base64url')
let prepared = 0

export function isPostgres(client: unknown): client is PostgresPool {
  return typeof client === 'object' && client !== null && 'totalCount' in client && 'query' in client
}

/** Prepares a statement under a name, on whichever connection of the pool it is asked. */
export function readPostgres(pool: PostgresPool, connection: object, sql: string): PreparedRead {
  const careful = connection as CarefulConnection
  // Another each time: what a connection has prepared under a name it does not forget, be it out of date.
  const name = `koa-authenticators-${copy}-${++prepared}`
  const text = sql.replace('?', () => '$1')
  const statement = new PostgresStatement(name, text, pool.options.types)
  return new PostgresRead(statement, async (question) => careful.ask?.(question) ?? pool.query(question))
}

/**
 * A statement that is asked for all values of one turn of the event loop together, at its end: in one packet, answered by one. They
 * are fewer while the server is slow, so that they do not wait for one another until nobody waits any longer.
 */
class PostgresRead implements PreparedRead {
  readonly #statement: PostgresStatement
  readonly #ask: (question: PostgresQuestion) => Promise<PostgresAnswer>
  #asked: Asked[] = []
  #together = mostTogether

  constructor(statement: PostgresStatement, ask: (question: PostgresQuestion) => Promise<PostgresAnswer>) {
    this.#statement = statement
    this.#ask = ask
  }

  ask(value: string | number): Answer {
    const asked = new Asked(String(value))
    if (this.#asked.push(asked) === 1) endOfTurn().then(() => this.#end())
    return asked
  }

  #end(): void {
    const all = this.#asked
    this.#asked = []
    const together = this.#together
    for (let begin = 0; begin < all.length; begin += together)
      this.#answer(all.slice(begin, begin + together))
  }

  async #answer(asked: readonly Asked[]): Promise<void> {
    try {
      const values = asked.map(({ value }) => value)
      const { rows, error, took } = await this.#ask(new PostgresQuestion(this.#statement, values))
      this.#together =
        took > longestTogether ? half(this.#together) : Math.min(2 * this.#together, mostTogether)
      for (const [i, row] of rows.entries()) asked[i]?.give(row)
      let answered = rows.length
      if (error !== undefined) asked[answered++]?.fail(error)
      // What was wrong with a value is nothing to those who come after it.
      if (answered < asked.length) this.#answer(asked.slice(answered))
    } catch (error) {
      this.#together = 1
      for (const each of asked) each.fail(error)
    }
  }
}

function half(amount: number): number {
  return Math.ceil(amount / 2)
}
