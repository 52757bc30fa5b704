import { endOfTurn } from '../turn.ts'
import { Busy, type Row } from './prepared-read.ts'
import { type CarefulConnection, isBusy, type SqliteClient, type Statement } from './sqlite-client.ts'
import { knownCommitsOf } from './sqlite-commits.ts'

interface Question {
  readonly read: () => Row | undefined
  readonly resolve: (row: Row | undefined) => void
  readonly reject: (error: unknown) => void
}

const known = new WeakMap<SqliteClient, SqliteTurn>()

/**
 * What is asked of a connection in one turn of the event loop, and answered at its end: when whatever requests had come by
 * then have been read. To look whether anything was committed, to lock the database and to let it go are calls of the system
 * that many requests share so; and each still learns how it is after it has come.
 */
export class SqliteTurn {
  readonly #client: SqliteClient
  readonly #connection: CarefulConnection
  #questions: Question[] = []
  #reads = 0
  /** Whether nobody else uses it, in this turn. */
  #isFree: boolean | undefined
  #hasBegun = false

  private constructor(client: SqliteClient, connection: CarefulConnection) {
    this.#client = client
    this.#connection = connection
  }

  /** That of a client: all statements share it. */
  static of(client: SqliteClient, connection: CarefulConnection): SqliteTurn {
    const turn = known.get(client) ?? new SqliteTurn(client, connection)
    known.set(client, turn)
    return turn
  }

  /** What `read` returns at the end of this turn; all that reads by `get` belongs in there. */
  ask(read: () => Row | undefined): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#questions.push({ read, resolve, reject }) === 1) endOfTurn().then(() => this.#end())
    })
  }

  /** The row of a statement as it is now, for a question. @throws `Busy` where it could only be told how it was or may be */
  get(statement: Statement, value: string | number): Row | undefined {
    if (!this.#client.open) throw new Error('The connection is closed.')
    this.#isFree ??= !isBusy(this.#client)
    if (!this.#isFree) throw new Busy('A transaction or a query is open.')
    this.#reads += 1
    // From the second on, they are worth a transaction.
    if (this.#reads === 2) this.#begin()
    return statement.get(value)
  }

  #end(): void {
    const questions = this.#questions
    this.#questions = []
    try {
      this.#connection.assertReadable?.(this.#client)
      const answers = this.#answersTo(questions)
      for (const [i, { resolve }] of questions.entries()) resolve(answers[i])
    } catch (error) {
      for (const { reject } of questions) reject(error)
    }
  }

  #answersTo(questions: readonly Question[]): (Row | undefined)[] {
    const answer = ({ read, reject }: Question) => {
      try {
        return read()
      } catch (error) {
        reject(error)
        return undefined
      }
    }
    const answers = () => questions.map(answer)
    try {
      return knownCommitsOf(this.#client)?.together(answers) ?? answers()
    } finally {
      this.#reads = 0
      this.#isFree = undefined
      if (this.#hasBegun) this.#commit()
    }
  }

  /** What is read from here on is as it is now: who looked later would know of more than that. */
  #begin(): void {
    knownCommitsOf(this.#client)?.look()
    this.#client.exec('begin')
    this.#hasBegun = true
  }

  #commit(): void {
    this.#hasBegun = false
    // Some errors end a transaction by themselves.
    if (this.#client.inTransaction) this.#client.exec('commit')
  }
}
