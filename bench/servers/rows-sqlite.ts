import Database from 'better-sqlite3'
import { pageCacheSize } from '../../src/database/sqlite/page-cache.ts'
import { databasePath } from './environment.ts'
import { digest, isDue, isOver, type Person, person, type SessionRow, type TokenRow } from './row-rules.ts'

const database = new Database(databasePath)
database.pragma('journal_mode = wal')
database.pragma('synchronous = normal')
database.pragma(`cache_size = -${pageCacheSize}`)

const byID = database.prepare<[string], Person>(
  `select ${person} from users u where u.id = ? and u.disabled_at is null`,
)
const byToken = database.prepare<[string], TokenRow>(
  `select ${person}, t.id as tokenID, t.expires_at as expiresAt, t.last_used_at as lastUsedAt
   from user_tokens t join users u on u.id = t.user_id where t.value = ? and u.disabled_at is null`,
)
const bySession = database.prepare<[string], Person & SessionRow>(
  `select ${person}, s.user_id as user, s.created_at as createdAt, s.seen_at as seenAt
   from sessions s join users u on u.id = s.user_id where s.digest = ? and u.disabled_at is null`,
)
const sessionRow = database.prepare<[string], SessionRow>(
  'select user_id as user, created_at as createdAt, seen_at as seenAt from sessions where digest = ?',
)
const save = database.prepare('update sessions set data = ? where digest = ?')
const end = database.prepare('delete from sessions where digest = ?')
const useToken = database.prepare('update user_tokens set last_used_at = ? where id = ?')
const seeSession = database.prepare('update sessions set seen_at = ? where digest = ?')

/** A user by their identifier. */
export function userByID(id: string): Person | undefined {
  return byID.get(id)
}

/** Whose bearer token that is: one look-up, by digest. At most once a minute it is noted that it was used. */
export function userByToken(token: string): Person | undefined {
  const found = byToken.get(digest(token))
  const now = Date.now()
  if (!found || found.expiresAt <= now) return undefined
  if (isDue(found.lastUsedAt, now)) useToken.run(now, found.tokenID)
  return found
}

/** Whose session that is, in one look-up. */
export function userBySession(id: string): Person | undefined {
  const found = bySession.get(digest(id))
  return found && isLive(found, id) ? found : undefined
}

/** For a session middleware's store: whom the session belongs to, for whoever looks the user up with `userByID` then. */
export function sessionUser(id: string): string | undefined {
  const found = sessionRow.get(digest(id))
  return found && isLive(found, id) ? found.user : undefined
}

/** Called by a store when something in a session has changed. */
export function saveSession(id: string, data: object): void {
  save.run(JSON.stringify(data), digest(id))
}

/** Called by a store when a session ends. */
export function endSession(id: string): void {
  end.run(digest(id))
}

function isLive(session: SessionRow, id: string): boolean {
  const now = Date.now()
  if (isOver(session, now)) return false
  if (isDue(session.seenAt, now)) seeSession.run(now, digest(id))
  return true
}
