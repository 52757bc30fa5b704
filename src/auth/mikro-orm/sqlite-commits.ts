import { Commits } from './commits.ts'
import type { CarefulConnection, SqliteClient } from './sqlite-client.ts'
import { WalIndex } from './wal-index.ts'

const known = new WeakMap<SqliteClient, Commits>()

/** What is committed to the database of a client; `undefined` where that cannot be told exactly. */
export function commitsOf(client: SqliteClient, connection: CarefulConnection): Commits | undefined {
  const commits = known.get(client) ?? watch(client, connection)
  if (commits) known.set(client, commits)
  return commits
}

/** The same, if anybody has asked for it. */
export function knownCommitsOf(client: SqliteClient): Commits | undefined {
  return known.get(client)
}

function watch(client: SqliteClient, connection: CarefulConnection): Commits | undefined {
  const isShared = client.pragma('locking_mode', { simple: true }) === 'normal'
  if (client.memory || !isShared || client.pragma('journal_mode', { simple: true }) !== 'wal')
    return undefined
  const index = WalIndex.of(client.name)
  if (!index) return undefined
  return new Commits({
    hasChanged() {
      // What is remembered would still be there; a statement finds out by itself, and a careful connection knows.
      if (!connection.assertReadable && !client.open) throw new Error('The connection is closed.')
      return index.hasChanged()
    },
    assertReadable: () => connection.assertReadable?.(client),
    // https://sqlite.org/pragma.html#pragma_data_version
    others: () => client.pragma('data_version', { simple: true }),
  })
}
