import pg from 'pg'
import { databaseURL, poolSize } from './environment.ts'
import { digest, isDue, isOver, type Person, person, type SessionRow, type TokenRow } from './row-rules.ts'

// Times are milliseconds here, as in SQLite.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => Date.parse(text))

const pool = new pg.Pool({ connectionString: databaseURL, max: poolSize })

const byID = statement<Person>(
  'user-by-id',
  `select ${person} from users u where u.id = $1 and u.disabled_at is null`,
)
const byToken = statement<TokenRow>(
  'user-by-token',
  `select ${person}, t.id as "tokenID", t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt"
   from user_tokens t join users u on u.id = t.user_id where t.value = $1 and u.disabled_at is null`,
)
const bySession = statement<Person & SessionRow>(
  'user-by-session',
  `select ${person}, s.user_id as "user", s.created_at as "createdAt", s.seen_at as "seenAt"
   from sessions s join users u on u.id = s.user_id where s.digest = $1 and u.disabled_at is null`,
)
const sessionRow = statement<SessionRow>(
  'session',
  'select user_id as "user", created_at as "createdAt", seen_at as "seenAt" from sessions where digest = $1',
)
const save = statement('save-session', 'update sessions set data = $1 where digest = $2')
const end = statement('end-session', 'delete from sessions where digest = $1')
const useToken = statement('use-token', 'update user_tokens set last_used_at = now() where id = $1')
const seeSession = statement('see-session', 'update sessions set seen_at = now() where digest = $1')

/** A user by their identifier. */
export function userByID(id: string): Promise<Person | undefined> {
  return byID(id)
}

/** Whose bearer token that is: one look-up, by digest. At most once a minute it is noted that it was used. */
export async function userByToken(token: string): Promise<Person | undefined> {
  const found = await byToken(digest(token))
  const now = Date.now()
  if (!found || found.expiresAt <= now) return undefined
  if (isDue(found.lastUsedAt, now)) await useToken(found.tokenID)
  return found
}

/** Whose session that is, in one look-up. */
export async function userBySession(id: string): Promise<Person | undefined> {
  const found = await bySession(digest(id))
  return found && (await isLive(found, id)) ? found : undefined
}

/** For a session middleware's store: whom the session belongs to, for whoever looks the user up with `userByID` then. */
export async function sessionUser(id: string): Promise<string | undefined> {
  const found = await sessionRow(digest(id))
  return found && (await isLive(found, id)) ? found.user : undefined
}

/** Called by a store when something in a session has changed. */
export async function saveSession(id: string, data: object): Promise<void> {
  await save(JSON.stringify(data), digest(id))
}

/** Called by a store when a session ends. */
export async function endSession(id: string): Promise<void> {
  await end(digest(id))
}

async function isLive(session: SessionRow, id: string): Promise<boolean> {
  const now = Date.now()
  if (isOver(session, now)) return false
  if (isDue(session.seenAt, now)) await seeSession(digest(id))
  return true
}

/** A statement that each connection prepares once, under this name; it answers with its first row. */
function statement<Row extends object>(name: string, text: string) {
  return async (...values: string[]): Promise<Row | undefined> => {
    const { rows } = await pool.query<Row>({ name, text, values })
    return rows[0]
  }
}
