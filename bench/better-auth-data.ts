import { join } from 'node:path'
import Database from 'better-sqlite3'
import { defaultAmounts, folder, token, user, users } from './data.ts'
import { copy, type Rows } from './database.ts'

const week = 7 * 24 * 60 * 60 * 1000
let original: Promise<string> | undefined

/** The users of the benchmark in Better Auth's own tables. Better Auth stores bearer tokens as sessions. */
export const betterAuthRows: Rows = async (server) => {
  original ??= make()
  return `sqlite:${copy(await original, server)}`
}

async function make(): Promise<string> {
  const path = join(folder, 'better-auth.sqlite')
  const { authOn } = await import('./servers/better-auth-options.ts')
  const { getMigrations } = await import('better-auth/db/migration')
  const { runMigrations } = await getMigrations(authOn(path).options)
  await runMigrations()
  fill(path)
  return path
}

function fill(path: string): void {
  const file = new Database(path)
  const now = Date.now()
  const addUser = file.prepare(
    'insert into user (id, name, email, emailVerified, createdAt, updatedAt) values (?, ?, ?, 1, ?, ?)',
  )
  const addSession = file.prepare(
    'insert into session (id, token, userId, expiresAt, createdAt, updatedAt) values (?, ?, ?, ?, ?, ?)',
  )
  file.transaction(() => {
    for (let i = 0; i < users; i += 1) {
      const { id, name, email } = user(i)
      addUser.run(id, name, email, iso(now), iso(now))
    }
    for (let i = 0; i < defaultAmounts.tokens; i += 1) {
      const { id } = user(i % users)
      addSession.run(`session-${i}`, token(i), id, iso(now + week), iso(now), iso(now))
    }
  })()
  file.pragma('wal_checkpoint(truncate)')
  file.close()
}

function iso(time: number): string {
  return new Date(time).toISOString()
}
