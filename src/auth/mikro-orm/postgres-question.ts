import type { Row } from './prepared-read.ts'

type Parse = (text: string) => unknown

/** What knows how the text of a value is read, by PostgreSQL's number of its type. */
export interface PostgresTypes {
  getTypeParser(type: number, format: 'text'): Parse
}

/** A connection of `pg`, for what speaks its protocol, as pg-cursor does. */
interface Connection {
  readonly stream: { cork(): void; uncork(): void }
  readonly parsedStatements: Readonly<Record<string, string>>
  parse(statement: { name: string; text: string }): void
  bind(values: { statement: string; values: readonly string[] }): void
  describe(portal: { type: 'P'; name: string }): void
  execute(portal: object): void
  sync(): void
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

interface Answer {
  readonly rows: readonly Row[]
}

/**
 * A question that is answered with at most one row. `pg` takes it for a query of its own, which would have the columns
 * described each time, and read all about them.
 */
export class PostgresQuestion {
  readonly name: string
  readonly text: string
  /** `pg` calls it when there is an answer, or an error in its place. */
  callback: ((error: unknown, answer?: Answer) => void) | undefined
  readonly #statement: PostgresStatement
  readonly #value: string
  #connection: Connection | undefined
  #fields: (string | null)[] | undefined

  constructor(statement: PostgresStatement, value: string) {
    this.name = statement.name
    this.text = statement.text
    this.#statement = statement
    this.#value = value
  }

  submit(connection: Connection): void {
    this.#connection = connection
    const { name, text } = this
    // All in one packet.
    connection.stream.cork()
    try {
      if (!connection.parsedStatements[name]) connection.parse({ name, text })
      connection.bind({ statement: name, values: [this.#value] })
      if (!this.#statement.columns.has(connection)) connection.describe({ type: 'P', name: '' })
      connection.execute({})
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

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#fields = fields
  }

  handleCommandComplete(): void {}

  handleError(error: unknown): void {
    this.callback?.(error)
  }

  handleReadyForQuery(connection: Connection): void {
    const parses = this.#statement.columns.get(connection)
    try {
      const row = this.#fields?.map((field, i) => (field === null ? null : parses?.[i]?.(field)))
      this.callback?.(undefined, { rows: row ? [row] : [] })
    } catch (error) {
      this.callback?.(error)
    }
  }
}
