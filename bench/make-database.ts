import bcrypt from 'bcrypt'
import Database from 'better-sqlite3'
import { type Amounts, bcryptCost, hex, password, registered, session, token, user, users } from './data.ts'
import { newKeys } from './keys.ts'
import { site, start } from './server-process.ts'
import { digest } from './servers/row-rules.ts'

const expiry = Date.UTC(2100, 0, 1)
const indexesOfTables =
  "select name, sql from sqlite_schema where type = 'index' and sql is not null and tbl_name in ('user_tokens', 'sessions')"

/** Makes a SQLite file with the tables of the site and these numbers of rows. Returns its path. */
export async function makeDatabase(path: string, amounts: Amounts): Promise<string> {
  await migrate(`sqlite:${path}`)
  const passwordHash = await bcrypt.hash(password, bcryptCost)
  const file = new Database(path)
  // The file needs no durability, because each run creates it again.
  file.pragma('synchronous = off')
  file.pragma('cache_size = -1000000')
  // Building an index over a full table is much faster than updating it for each inserted row.
  const indexes = file.prepare<[], { name: string; sql: string }>(indexesOfTables).all()
  file.transaction(() => {
    for (const { name } of indexes) file.exec(`drop index ${name}`)
    fill(file, amounts, passwordHash)
    for (const { sql } of indexes) file.exec(sql)
  })()
  file.close()
  return path
}

function fill(file: Database.Database, { tokens, sessions }: Amounts, passwordHash: string): void {
  const addUser = file.prepare(
    'insert into users (id, name, email, email_key, password_hash, password_changed_at, created_at) values (?, ?, ?, ?, ?, ?, ?)',
  )
  const addToken = file.prepare(
    'insert into user_tokens (value, id, name, user_id, expires_at, last_used_at, created_at) values (?, ?, ?, ?, ?, ?, ?)',
  )
  const addSession = file.prepare(
    'insert into sessions (digest, id, user_id, user_agent, data, kept, created_at, seen_at) values (?, ?, ?, ?, ?, 0, ?, ?)',
  )
  for (let i = 0; i < users; i += 1) {
    const { id, name, email, passwordChangedAt } = user(i)
    addUser.run(id, name, email, email, passwordHash, passwordChangedAt, registered)
  }
  for (const [value, i] of inOrder(tokens, token)) {
    const { id } = user(i % users)
    addToken.run(value, rowId(i, 'a'), 'bench', id, expiry, registered, registered)
  }
  const now = Date.now()
  for (const [value, i] of inOrder(sessions, session)) {
    const { id } = user(i % users)
    addSession.run(value, rowId(i, 'b'), id, 'bench', JSON.stringify({ user: id }), now, now)
  }
}

/** The digests of tokens or sessions with their numbers, in the order of the primary key, for fast inserts. */
function inOrder(amount: number, secretOf: (number: number) => string): [string, number][] {
  const all = Array.from({ length: amount }, (_, i): [string, number] => [digest(secretOf(i)), i])
  return all.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** An identifier in the form of a UUID, version 7. */
function rowId(number: number, variant: string): string {
  return `0190a6e5-7c9b-7000-${variant}000-${hex(number, 12)}`
}

/** Starts the site, which creates its tables by its migrations, and stops it. */
export async function migrate(databaseURL: string): Promise<void> {
  const running = await start(site, { ...newKeys('HS256').environment, DATABASE_URL: databaseURL })
  await running.stop()
}
