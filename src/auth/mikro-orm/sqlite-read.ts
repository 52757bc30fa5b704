import type { PreparedRead, ReadStatement } from './prepared-read.ts'
import { RowMemory } from './row-memory.ts'
import { type CarefulConnection, isOwnTable, type SqliteClient } from './sqlite-client.ts'
import { commitsOf } from './sqlite-commits.ts'
import { type Read, SqliteTurn } from './sqlite-turn.ts'

/** Prepares a statement, and remembers its rows if they may be. */
export function readSqlite(
  client: SqliteClient,
  connection: object,
  { sql, keys, remember }: ReadStatement & { remember: boolean },
): PreparedRead {
  const careful = connection as CarefulConnection
  const statement = client.prepare(sql).raw()
  const turn = SqliteTurn.of(client, careful)
  const commits =
    remember && keys.every(({ table }) => isOwnTable(client, table)) ? commitsOf(client, careful) : undefined
  const memory = commits && new RowMemory({ commits, keys })
  const read: Read = (value, these) => turn.get(statement, value, these)
  const answer: Read = memory ? (value, these) => memory.row(value, read, these) : read
  return {
    ask: (value) => turn.ask(answer, value),
    ...(memory && { known: (value, these) => memory.known(value, these) }),
  }
}
