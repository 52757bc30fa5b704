import type { PreparedRead, ReadStatement } from './prepared-read.ts'
import { RowMemory } from './row-memory.ts'
import { type CarefulConnection, isOwnTable, type SqliteClient } from './sqlite-client.ts'
import { commitsOf } from './sqlite-commits.ts'
import { SqliteTurn } from './sqlite-turn.ts'

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
  const read = (value: string | number) => turn.get(statement, value)
  const answer = memory ? (value: string | number) => memory.row(value, read) : read
  return {
    ask: (value) => turn.ask(answer, value),
    ...(memory && { known: (value, these) => memory.known(value, these) }),
  }
}
