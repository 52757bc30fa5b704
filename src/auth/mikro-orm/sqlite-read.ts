import type { PreparedRead, ReadStatement } from './prepared-read.ts'
import { RowMemory } from './row-memory.ts'
import { type CarefulConnection, isBusy, isOwnTable, type SqliteClient } from './sqlite-client.ts'
import { commitsOf } from './sqlite-commits.ts'

/** Prepares a statement, and remembers its rows if they may be. */
export function readSqlite(
  client: SqliteClient,
  connection: object,
  { sql, keys, remember }: ReadStatement & { remember: boolean },
): PreparedRead {
  const careful = connection as CarefulConnection
  const statement = client.prepare(sql).raw()
  const commits =
    remember && keys.every(({ table }) => isOwnTable(client, table)) ? commitsOf(client, careful) : undefined
  const memory = commits && new RowMemory({ commits, keys, isCurrent: () => !isBusy(client) })
  const read = (value: string | number) => {
    // Somebody else's, on the connection that all share: what it has written may yet be taken back.
    if (!careful.assertReadable && client.inTransaction)
      throw new Error('The connection is in a transaction.')
    return statement.get(value)
  }
  return {
    get(value) {
      careful.assertReadable?.(client)
      return memory ? memory.row(value, read) : read(value)
    },
  }
}
