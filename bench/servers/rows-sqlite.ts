import Database from 'better-sqlite3'
import { cacheSize, databasePath } from './environment.ts'
import { digest, isDue, isExpired, type Person, person, type SessionRow, type TokenRow } from './row-rules.ts'

const database = new Database(databasePath)
database.pragma('journal_mode = wal')
database.pragma('synchronous = normal')
database.pragma(`cache_size = -${cacheSize}`)

const byToken = database.prepare<[string], TokenRow>(
  `select ${person}, t.id as tokenID, t.expires_at as expiresAt, t.last_used_at as lastUsedAt
   from user_tokens t join users u on u.id = t.user_id where t.value = ? and u.disabled_at is null`,
)
const sessionRow = `${person}, s.created_at as createdAt, s.seen_at as seenAt`
const joined = 'from sessions s join users u on u.id = s.user_id where s.digest = ? and u.disabled_at is null'
const bySession = database.prepare<[string], SessionRow>(`select ${sessionRow} ${joined}`)
const withData = database.prepare<[string], SessionRow & { data: string }>(
  `select s.data, ${sessionRow} ${joined}`,
)
const save = database.prepare('update sessions set data = ? where digest = ?')
const end = database.prepare('delete from sessions where digest = ?')
const useToken = database.prepare('update user_tokens set last_used_at = ? where id = ?')
const seeSession = database.prepare('update sessions set seen_at = ? where digest = ?')

/** The user of a bearer token. Writes the last use of the token at most once a minute. */
export function userByToken(token: string): Person | undefined {
  const found = byToken.get(digest(token))
  const now = Date.now()
  if (!found || found.expiresAt <= now) return undefined
  if (isDue(found.lastUsedAt, now)) useToken.run(now, found.tokenID)
  return found
}

/** The user of a session. Writes the last use of the session at most once a minute. */
export function userBySession(id: string): Person | undefined {
  return findSession(bySession, id)
}

/** The user and the data of a session, for a session store. `saveSession` writes the data. */
export function restoreSession(id: string): { user: Person; data: object } | undefined {
  const user = findSession(withData, id)
  return user && { user, data: JSON.parse(user.data) }
}

function findSession<Row extends SessionRow>(
  statement: Database.Statement<[string], Row>,
  id: string,
): Row | undefined {
  const found = statement.get(digest(id))
  const now = Date.now()
  if (!found || isExpired(found, now)) return undefined
  if (isDue(found.seenAt, now)) seeSession.run(now, digest(id))
  return found
}

/** Called by a session store when a session has changed. */
export function saveSession(id: string, data: object): void {
  save.run(JSON.stringify(data), digest(id))
}

/** Called by a session store when a session ends. */
export function endSession(id: string): void {
  end.run(digest(id))
}
