import pg from 'pg'
import { databaseURL, poolSize } from './environment.ts'
import { digest, isDue, isExpired, type Person, person, type SessionRow, type TokenRow } from './row-rules.ts'

// Times are milliseconds, as in SQLite.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => Date.parse(text))

const pool = new pg.Pool({ connectionString: databaseURL, max: poolSize })

const byToken = statement<TokenRow>(
  'user-by-token',
  `select ${person}, t.id as "tokenID", t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt"
   from user_tokens t join users u on u.id = t.user_id where t.value = $1 and u.disabled_at is null`,
)
const bySession = statement<SessionRow>(
  'user-by-session',
  `select ${person}, s.created_at as "createdAt", s.seen_at as "seenAt"
   from sessions s join users u on u.id = s.user_id where s.digest = $1 and u.disabled_at is null`,
)
const useToken = statement('use-token', 'update user_tokens set last_used_at = now() where id = $1')
const seeSession = statement('see-session', 'update sessions set seen_at = now() where digest = $1')

/** The user of a bearer token. Writes the last use of the token at most once a minute. */
export async function userByToken(token: string): Promise<Person | undefined> {
  const found = await byToken(digest(token))
  const now = Date.now()
  if (!found || found.expiresAt <= now) return undefined
  if (isDue(found.lastUsedAt, now)) await useToken(found.tokenID)
  return found
}

/** The user of a session. Writes the last use of the session at most once a minute. */
export async function userBySession(id: string): Promise<Person | undefined> {
  const found = await bySession(digest(id))
  const now = Date.now()
  if (!found || isExpired(found, now)) return undefined
  if (isDue(found.seenAt, now)) await seeSession(digest(id))
  return found
}

/** A function that returns the first row of a named statement. Each connection prepares the statement once. */
function statement<Row extends object>(name: string, text: string) {
  return async (...values: string[]): Promise<Row | undefined> => {
    const { rows } = await pool.query<Row>({ name, text, values })
    return rows[0]
  }
}
