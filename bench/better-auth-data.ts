import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { folder, token, user, usual } from './data.ts'
import { discard } from './database.ts'

const week = 7 * 24 * 60 * 60 * 1000

/** The same users in Better Auth's own tables, made by its own migration; its sessions are its bearer tokens. */
export async function betterAuthDatabase(): Promise<string> {
  const path = join(folder, 'better-auth.sqlite')
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  const unfinished = `${path}-unfinished`
  discard(unfinished)
  const { authOn } = await import('./servers/better-auth-options.ts')
  const { getMigrations } = await import('better-auth/db/migration')
  const { runMigrations } = await getMigrations(authOn(unfinished).options)
  await runMigrations()
  fill(unfinished)
  renameSync(unfinished, path)
  discard(unfinished)
  return path
}

/** Says of every session that it has just started, so that none is renewed. */
export function refreshBetterAuth(path: string): void {
  const file = new Database(path, { timeout: 5000 })
  const now = Date.now()
  file.prepare('update session set expiresAt = ?, updatedAt = ?').run(iso(now + week), iso(now))
  file.close()
}

function fill(path: string): void {
  const file = new Database(path)
  const now = Date.now()
  const addUser = file.prepare(
    'insert into user (id, name, email, emailVerified, createdAt, updatedAt, passwordChangedAt) values (?, ?, ?, 1, ?, ?, ?)',
  )
  const addSession = file.prepare(
    'insert into session (id, token, userId, expiresAt, createdAt, updatedAt) values (?, ?, ?, ?, ?, ?)',
  )
  file.transaction(() => {
    for (let i = 0; i < usual.users; i += 1) {
      const { id, name, email, passwordChangedAt } = user(i)
      addUser.run(id, name, email, iso(passwordChangedAt), iso(now), iso(passwordChangedAt))
    }
    for (let i = 0; i < usual.tokens; i += 1) {
      const { id } = user(i % usual.users)
      addSession.run(`session-${i}`, token(i), id, iso(now + week), iso(now), iso(now))
    }
  })()
  file.pragma('wal_checkpoint(truncate)')
  file.close()
}

function iso(time: number): string {
  return new Date(time).toISOString()
}
