import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import bcrypt from 'bcrypt'
import Database from 'better-sqlite3'
import { openDatabase } from '../src/database/open-database.ts'
import { schema } from '../src/schema.ts'
import { storedToken } from '../src/users/token-value.ts'
import { digestOf } from '../src/web/session-store.ts'
import { type Amounts, bcryptCost, folder, hex, password, registered, session, token, user } from './data.ts'

const minute = 60 * 1000
const day = 24 * 60 * 60 * 1000
// A database that other migrations have made would be measured for what the site does not have.
const migrations = join(import.meta.dirname, '../src/migrations')
const schemaHash = hash(
  'sha256',
  readdirSync(migrations)
    .map((file) => readFileSync(join(migrations, file), 'utf8'))
    .join(''),
).slice(0, 8)

/** A database of the site with so many rows: made once by the site's own migrations, and filled by SQL. */
export async function database(amounts: Amounts): Promise<string> {
  const path = pathOf(amounts)
  if (isMade(amounts)) return path
  mkdirSync(folder, { recursive: true })
  const unfinished = `${path}-unfinished`
  discard(unfinished)
  const orm = await openDatabase(`sqlite:${unfinished}`, schema)
  await orm.close()
  await fill(unfinished, amounts)
  renameSync(unfinished, path)
  discard(unfinished)
  return path
}

/** Whether that database stands there from an earlier run. */
export function isMade(amounts: Amounts): boolean {
  return existsSync(pathOf(amounts))
}

function pathOf({ users, tokens, sessions }: Amounts): string {
  return join(folder, `${users}-${tokens}-${sessions}-${schemaHash}.sqlite`)
}

/** Says of every session and every token that it was used ten minutes ago: it has to be noted when it is used again. */
export function age(path: string): void {
  const file = new Database(path, { timeout: 5000 })
  const when = Date.now() - 10 * minute
  file.prepare('update sessions set seen_at = ?').run(when)
  file.prepare('update user_tokens set last_used_at = ?').run(when)
  // What that has written is not for the server to tidy up.
  file.pragma('wal_checkpoint(truncate)')
  file.close()
}

/** Sees to it that every session and every token was used in the future: nobody has to note it while we measure. */
export function refresh(path: string): void {
  const file = new Database(path, { timeout: 5000 })
  const oldest = file.prepare('select min(seen_at) from sessions where kept = 0').pluck().get()
  // Of ten million it takes minutes: once a month will do.
  if (!(Number(oldest) > Date.now() + day)) {
    const when = Date.now() + 30 * day
    file.transaction(() => {
      file.prepare('update sessions set created_at = ?, seen_at = ?').run(when, when)
      file.prepare('update user_tokens set expires_at = ?, last_used_at = ?').run(when + 30 * day, when)
    })()
  }
  file.close()
}

async function fill(path: string, { users, tokens, sessions }: Amounts): Promise<void> {
  const file = new Database(path)
  // Nobody misses it if that breaks off: it is begun anew then.
  file.pragma('journal_mode = memory')
  file.pragma('synchronous = off')
  file.pragma(`cache_size = -${Math.floor(totalmem() / 4 / 1024)}`)
  // An index is made in a fraction of the time when all rows are there.
  const indexes = file
    .prepare<[], { name: string; sql: string }>(
      "select name, sql from sqlite_schema where type = 'index' and sql is not null and tbl_name in ('user_tokens', 'sessions')",
    )
    .all()
  for (const { name } of indexes) file.exec(`drop index ${name}`)
  const passwordHash = await bcrypt.hash(password, bcryptCost)
  const when = Date.now() + 30 * day
  const addUser = file.prepare(
    'insert into users (id, name, email, email_key, password_hash, password_changed_at, created_at) values (?, ?, ?, ?, ?, ?, ?)',
  )
  const addToken = file.prepare(
    'insert into user_tokens (id, value, name, user_id, expires_at, last_used_at, created_at) values (?, ?, ?, ?, ?, ?, ?)',
  )
  const addSession = file.prepare(
    'insert into sessions (digest, id, user_id, user_agent, data, kept, created_at, seen_at) values (?, ?, ?, ?, ?, 0, ?, ?)',
  )
  file.transaction(() => {
    for (let i = 0; i < users; i += 1) {
      const { id, name, email, passwordChangedAt } = user(i)
      addUser.run(id, name, email, email, passwordHash, passwordChangedAt, registered)
    }
    for (let i = 0; i < tokens; i += 1) {
      const { id } = user(i % users)
      addToken.run(rowId(i, 'a'), storedToken(token(i)), 'bench', id, when + 30 * day, when, registered)
    }
    for (let i = 0; i < sessions; i += 1) {
      const { id } = user(i % users)
      const data = JSON.stringify({ user: id })
      addSession.run(digestOf(session(i)), rowId(i, 'b'), id, 'bench', data, when, when)
    }
    for (const { sql } of indexes) file.exec(sql)
  })()
  file.pragma('journal_mode = wal')
  file.close()
}

// Of the form of a UUID, version 7.
function rowId(number: number, variant: string): string {
  return `0190a6e5-7c9b-7000-${variant}000-${hex(number, 12)}`
}

/** Deletes a database, and what stands beside it. */
export function discard(path: string): void {
  for (const end of ['', '-wal', '-shm', '-migrating']) rmSync(`${path}${end}`, { force: true })
}
