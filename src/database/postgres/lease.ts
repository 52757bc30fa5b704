import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import type { Outage } from './outage.ts'

// A little more than the server allows a statement: it answers itself, if it can.
const longestAnswer = 2_500
const mostTries = 3

/** What `pg` hands out as a connection of its pool. */
export interface PoolClient {
  query(question: Question): Promise<Answer | Answer[]>
  query(question: Question, answer: (error: Error | undefined, answer: Answer | Answer[]) => void): void
  /** @param destroy whether nobody is to have it any more */
  release(destroy?: boolean): void
  readonly connection: { readonly stream: { destroy(): void } }
}

/** What a connection is asked; where it has a name, it is prepared under it once. */
export interface Question {
  readonly text: string
  readonly name?: string
  /** After how many milliseconds `pg` waits no longer. */
  query_timeout?: number
}

/** What comes back. */
export interface Answer {
  readonly command: string
  readonly rowCount: number | null
  readonly rows: unknown[]
}

/** What is known of a connection's pool. */
export interface Lender {
  readonly outage: Outage
  /** Whether nobody waits for ever. */
  readonly isLimited: boolean
  /** Makes of the driver's errors what callers expect. */
  readonly convert: (error: Error) => Error
}

/** A connection on loan from the pool. One that has not answered, or is broken, is not given back to anybody. */
export class Lease implements DatabaseConnection {
  isInTransaction = false
  readonly #client: PoolClient
  readonly #lender: Lender
  #isBroken = false
  #isOver = false

  constructor(client: PoolClient, lender: Lender) {
    this.#client = client
    this.#lender = lender
  }

  async executeQuery<Row>({ sql }: Pick<CompiledQuery, 'sql'>): Promise<QueryResult<Row>> {
    // MikroORM writes the values into the statement.
    const answer = await this.#run(sql)
    const changes = /^(insert|update|delete|merge)$/i.test(answer.command) ? answer.rowCount : null
    // Kysely leaves it to its caller to know the rows.
    const rows = answer.rows as Row[]
    return changes === null ? { rows } : { rows, numAffectedRows: BigInt(changes) }
  }

  /** All at once, as with SQLite: nothing here reads more than fits on a page. */
  async *streamQuery<Row>(query: CompiledQuery): AsyncIterableIterator<QueryResult<Row>> {
    yield await this.executeQuery<Row>(query)
  }

  /** Has the connection closed when it is given back: what it was about is undone with it. */
  break(): void {
    this.#isBroken = true
  }

  /** Gives the connection back. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#isBroken) cut(this.#client)
    else this.#client.release()
  }

  /** Asks as it stands, and throws what the driver throws. */
  async ask(question: Question): Promise<Answer> {
    // It would end the statement, with the values in it, before its end.
    if (question.text.includes('\0'))
      throw Object.assign(new Error('A NUL is no part of a text.'), { code: '22021' })
    if (this.#isBroken) throw Object.assign(new Error('The connection is broken.'), { code: 'ECONNRESET' })
    try {
      if (this.#lender.isLimited) question.query_timeout = longestAnswer
      const answer = await this.#answer(question)
      this.#lender.outage.end()
      return (Array.isArray(answer) ? answer.at(-1) : answer) as Answer
    } catch (error) {
      // What the server says has a severity, and a FATAL one is its last word.
      const severity = error instanceof Error && 'severity' in error ? error.severity : undefined
      if (severity !== 'ERROR') this.#isBroken = true
      if (isTimeout(error)) this.#lender.outage.begin(error)
      throw error
    }
  }

  // By a callback, which a question that speaks for itself takes too.
  #answer(question: Question): Promise<Answer | Answer[]> {
    return new Promise((resolve, reject) => {
      this.#client.query(question, (error, answer) => (error ? reject(error) : resolve(answer)))
    })
  }

  async #run(sql: string): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.ask({ text: sql })
      } catch (error) {
        // A statement that stands for itself has done nothing, if it was the one that had to give way to another.
        const isToRepeat = !this.isInTransaction && hasCode(error, '40P01', '40001') && tries < mostTries
        if (!isToRepeat) throw error instanceof Error ? this.#lender.convert(error) : error
      }
    }
  }
}

/** Closes a connection that nobody is to have any more. `pg` would say goodbye, and wait for a server that may not hear it. */
export function cut(client: PoolClient): void {
  client.release(true)
  client.connection.stream.destroy()
}

/** Whether `pg` has given up waiting: for an answer, or for a connection to be made. */
export function isTimeout(error: unknown): error is Error {
  return (
    error instanceof Error &&
    /^(Query read timeout|Connection terminated due to connection timeout)$/.test(error.message)
  )
}

/** Whether somebody has given up waiting: for that, for a lock, or for the end of a statement. */
export function hasWaited(error: unknown): error is Error {
  return isTimeout(error) || hasCode(error, '55P03', '57014')
}

function hasCode(error: unknown, ...codes: string[]): error is Error {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
