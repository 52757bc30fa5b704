import type { Row } from './answer.ts'
import { type Connection, type Taken, takenOf } from './postgres-connection.ts'

type Parse = (text: string) => unknown

/** What knows how the text of a value is read, by PostgreSQL's number of its type. */
export interface PostgresTypes {
  getTypeParser(type: number, format: 'text'): Parse
}

/** A statement that each connection prepares once, under its name, and what it answers with there. */
export class PostgresStatement {
  readonly name: string
  readonly text: string
  readonly types: PostgresTypes
  // What is prepared answers with the same columns ever after: the server refuses to where they have changed.
  readonly columns = new WeakMap<Connection, readonly Parse[]>()

  constructor(name: string, text: string, types: PostgresTypes) {
    this.name = name
    this.text = text
    this.types = types
  }
}

/** What has come back, as far as it has: it ends where anything is wrong with a value. */
export interface PostgresAnswer {
  /** Those of the values from the first on; nothing for a value that has no row. */
  readonly rows: readonly (Row | undefined)[]
  /** What is wrong with the value that comes next. */
  readonly error?: unknown
  /** How long the server took, in milliseconds. */
  readonly took: number
}

type Fields = readonly (string | null)[]

/**
 * Some questions of one kind, each of which is answered with at most one row. `pg` takes them for a query of its own, which
 * would have the columns described each time, read all about them, and ask for one value alone.
 */
export class PostgresQuestion {
  readonly name: string
  readonly text: string
  /** `pg` calls it when there is an answer to all, or an error in its place. */
  callback: ((error: unknown, answer?: PostgresAnswer) => void) | undefined
  readonly #statement: PostgresStatement
  readonly #values: readonly string[]
  readonly #found: (Fields | undefined)[] = []
  #fields: Fields | undefined
  #connection: Connection | undefined
  #taken: Taken | undefined
  #takenBefore = 0
  #askedAt = 0

  constructor(statement: PostgresStatement, values: readonly string[]) {
    this.name = statement.name
    this.text = statement.text
    this.#statement = statement
    this.#values = values
  }

  submit(connection: Connection): void {
    this.#connection = connection
    this.#taken = takenOf(connection)
    this.#takenBefore = this.#taken.count
    this.#askedAt = performance.now()
    const { name, text } = this
    let isDescribed = this.#statement.columns.has(connection)
    // All in one packet.
    connection.stream.cork()
    try {
      if (!connection.parsedStatements[name]) connection.parse({ name, text })
      for (const value of this.#values) {
        connection.bind({ statement: name, values: [value] })
        if (!isDescribed) connection.describe({ type: 'P', name: '' })
        isDescribed = true
        connection.execute({})
      }
      connection.sync()
    } finally {
      connection.stream.uncork()
    }
  }

  handleRowDescription({ fields }: { fields: readonly { dataTypeID: number }[] }): void {
    const { columns, types } = this.#statement
    const parses = fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text'))
    if (this.#connection) columns.set(this.#connection, parses)
  }

  handleDataRow({ fields }: { fields: Fields }): void {
    this.#fields = fields
  }

  handleCommandComplete(): void {
    this.#found.push(this.#fields)
    this.#fields = undefined
  }

  /** Where it is of a value, those before that have been answered, and the connection is as good as it was. */
  handleError(error: unknown): void {
    if (!isOfData(error)) this.callback?.(error)
    else if (this.#isRefused()) this.#answer(this.#found.length + 1)
    else this.#answer(this.#found.length, error)
  }

  handleReadyForQuery(): void {
    this.#answer(this.#values.length)
  }

  /** Whether the column cannot have the value that comes next, so no row has it. Else the error is of what the rows have. */
  #isRefused(): boolean {
    return this.#taken !== undefined && this.#taken.count - this.#takenBefore === this.#found.length
  }

  #answer(amount: number, error?: unknown): void {
    const took = performance.now() - this.#askedAt
    const parses = this.#connection && this.#statement.columns.get(this.#connection)
    const parsed = (fields: Fields) =>
      fields.map((field, i) => (field === null ? null : parses?.[i]?.(field)))
    try {
      const rows = Array.from({ length: amount }, (_, i) => this.#found[i] && parsed(this.#found[i]))
      this.callback?.(undefined, { rows, error, took })
    } catch (error) {
      this.callback?.(error)
    }
  }
}

// PostgreSQL's class of errors "data exception".
function isOfData(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('22')
}
