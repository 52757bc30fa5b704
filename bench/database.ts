import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type Amounts, folder, session, spread, token } from './data.ts'
import { makeDatabase } from './make-database.ts'
import { digest } from './servers/row-rules.ts'

/** Prepares a database for a server, and returns its URL. */
export type Rows = (server: string) => Promise<string>

const freshSeconds = 20
const originals = new Map<string, Promise<string>>()
const refreshed = new Map<string, number>()

/** SQLite files with the site's tables. Each server has a copy of the same file. */
export function sqliteRows(amounts: Amounts): Rows {
  return async (server) => {
    const path = await original(amounts)
    refresh(path, amounts)
    return `sqlite:${copy(path, server)}`
  }
}

/** The path of the file that is copied. Creates it on the first call. */
export function original(amounts: Amounts): Promise<string> {
  const path = join(folder, `${amounts.tokens}-${amounts.sessions}.sqlite`)
  const made = originals.get(path) ?? makeDatabase(path, amounts)
  originals.set(path, made)
  return made
}

export function copy(file: string, server: string): string {
  const path = join(folder, 'copies', `${server}.sqlite`)
  mkdirSync(join(folder, 'copies'), { recursive: true })
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
  copyFileSync(file, path)
  return path
}

/**
 * A last use 100 seconds in the future. A server writes a new last use when the stored one is a minute old, so no server
 * writes for 160 seconds. The site accepts times up to two minutes ahead.
 */
export function lastUse(): number {
  return Date.now() + 100_000
}

/** How many seconds a server can run before it writes last uses. */
export const secondsWithoutWrites = 160 - freshSeconds

/** Sets the last use of the requested rows. */
function refresh(path: string, { tokens, sessions }: Amounts): void {
  if (Date.now() - (refreshed.get(path) ?? 0) < freshSeconds * 1000) return
  refreshed.set(path, Date.now())
  const file = new Database(path)
  const see = file.prepare('update sessions set seen_at = ? where digest = ?')
  const use = file.prepare('update user_tokens set last_used_at = ? where value = ?')
  file.transaction(() => {
    for (const number of spread(sessions)) see.run(lastUse(), digest(session(number)))
    for (const number of spread(tokens)) use.run(lastUse(), digest(token(number)))
  })()
  file.close()
}
