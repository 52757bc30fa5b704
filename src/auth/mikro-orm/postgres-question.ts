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
  /** One for each value, in their order; nothing for a value that has no row. */
  readonly rows: readonly (Row | undefined)[]
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
  callback: ((error: unknown, answer?: Answer) => void) | undefined
  readonly #statement: PostgresStatement
  readonly #values: readonly string[]
  readonly #found: (Fields | undefined)[] = []
  #fields: Fields | undefined
  #connection: Connection | undefined

  constructor(statement: PostgresStatement, values: readonly string[]) {
    this.name = statement.name
    this.text = statement.text
    this.#statement = statement
    this.#values = values
  }

  submit(connection: Connection): void {
    this.#connection = connection
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

  handleError(error: unknown): void {
    this.callback?.(error)
  }

  handleReadyForQuery(connection: Connection): void {
    const parses = this.#statement.columns.get(connection)
    const parsed = (fields: Fields) =>
      fields.map((field, i) => (field === null ? null : parses?.[i]?.(field)))
    try {
      const rows = this.#found.map((fields) => fields && parsed(fields))
      this.callback?.(undefined, { rows })
    } catch (error) {
      this.callback?.(error)
    }
  }
}
