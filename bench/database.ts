import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type Amounts, folder, session, spread, token } from './data.ts'
import { makeDatabase } from './make-database.ts'
import { digest } from './servers/row-rules.ts'

/** Returns the URL of a database for a server, whose rows were used just now. */
export type Rows = (server: string) => Promise<string>

const freshSeconds = 20
const originals = new Map<string, Promise<string>>()
const refreshed = new Map<string, number>()

/** Rows in SQLite, in the site's own tables. Each server has a copy. */
export function sqliteRows(amounts: Amounts): Rows {
  return async (server) => {
    const path = await original(amounts)
    refresh(path, amounts)
    return `sqlite:${copy(path, server)}`
  }
}

/** The file that all copies with these amounts are made of. */
export function original(amounts: Amounts): Promise<string> {
  const path = join(folder, `${amounts.tokens}-${amounts.sessions}.sqlite`)
  const made = originals.get(path) ?? makeDatabase(path, amounts)
  originals.set(path, made)
  return made
}

/** Copies a database for one server. */
export function copy(file: string, server: string): string {
  const path = join(folder, 'copies', `${server}.sqlite`)
  mkdirSync(join(folder, 'copies'), { recursive: true })
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
  copyFileSync(file, path)
  return path
}

/**
 * The time of the last use that rows get. It is 100 seconds ahead, and servers write a new one after a minute: so no server
 * writes within 160 seconds. The site accepts times that are up to two minutes ahead.
 */
export function lastUse(): number {
  return Date.now() + 100_000
}

/** Seconds in which a start has to be measured, before servers write the last uses again. */
export const quietSeconds = 160 - freshSeconds

/** Marks the rows that are requested as used just now. */
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
