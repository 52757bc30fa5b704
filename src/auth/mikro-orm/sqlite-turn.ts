import { endOfTurn } from '../turn.ts'
import { Answer, type Row } from './answer.ts'
import { Busy } from './prepared-read.ts'
import { type CarefulConnection, isBusy, type SqliteClient, type Statement } from './sqlite-client.ts'
import { knownCommitsOf } from './sqlite-commits.ts'

/** Reads the row for a value, for one of `these`, who are told together. */
export type Read = (value: string | number, these: object) => Row | undefined

/** What somebody asks, and the answer, once it is there. */
class Question extends Answer {
  readonly #read: Read
  readonly #value: string | number

  constructor(ready: Promise<void>, read: Read, value: string | number) {
    super(ready)
    this.#read = read
    this.#value = value
  }

  answer(these: object): void {
    try {
      this.give(this.#read(this.#value, these))
    } catch (error) {
      this.fail(error)
    }
  }
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
  /** When the questions of this turn are answered; `undefined` if there is none. */
  #answered: Promise<void> | undefined
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

  /** What `read` returns for that value at the end of this turn; all that reads by `get` belongs in there. */
  ask(read: Read, value: string | number): Answer {
    this.#answered ??= endOfTurn().then(() => this.#end())
    const question = new Question(this.#answered, read, value)
    this.#questions.push(question)
    return question
  }

  /** The row of a statement as it is now, for a question. @throws `Busy` where it could only be told how it was or may be */
  get(statement: Statement, value: string | number, these: object): Row | undefined {
    if (!this.#client.open) throw new Error('The connection is closed.')
    this.#isFree ??= !isBusy(this.#client)
    if (!this.#isFree) throw new Busy('A transaction or a query is open.')
    this.#reads += 1
    // From the second on, they are worth a transaction.
    if (this.#reads === 2) this.#begin(these)
    return statement.get(value)
  }

  #end(): void {
    const questions = this.#questions
    this.#questions = []
    this.#answered = undefined
    try {
      this.#connection.assertReadable?.(this.#client)
      this.#answer(questions)
    } catch (error) {
      for (const question of questions) question.fail(error)
    }
  }

  #answer(questions: readonly Question[]): void {
    try {
      for (const question of questions) question.answer(questions)
    } finally {
      this.#reads = 0
      this.#isFree = undefined
      if (this.#hasBegun) this.#commit()
    }
  }

  /** What is read from here on is as it is now: who looked later would know of more than that. */
  #begin(these: object): void {
    knownCommitsOf(this.#client)?.lookOnceFor(these)
    this.#client.exec('begin')
    this.#hasBegun = true
  }

  #commit(): void {
    this.#hasBegun = false
    // Some errors end a transaction by themselves.
    if (this.#client.inTransaction) this.#client.exec('commit')
  }
}
