/** A connection of `pg`, for what speaks its protocol, as pg-cursor does. */
export interface Connection {
  on(event: 'bindComplete', listener: () => void): void
  readonly stream: { cork(): void; uncork(): void }
  readonly parsedStatements: Readonly<Record<string, string>>
  parse(statement: { name: string; text: string }): void
  bind(values: { statement: string; values: readonly string[] }): void
  describe(portal: { type: 'P'; name: string }): void
  execute(portal: object): void
  sync(): void
}

/** How many values a connection has been given that their columns can have. */
export interface Taken {
  count: number
}

const takenBy = new WeakMap<Connection, Taken>()

/** Counted ever since it was first asked for. */
export function takenOf(connection: Connection): Taken {
  const known = takenBy.get(connection)
  if (known) return known
  const taken = { count: 0 }
  takenBy.set(connection, taken)
  connection.on('bindComplete', () => {
    taken.count += 1
  })
  return taken
}
