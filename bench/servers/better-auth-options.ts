import { betterAuth } from 'better-auth'
import { bearer } from 'better-auth/plugins'
import Database from 'better-sqlite3'
import { pageCacheSize } from '../../src/database/sqlite/page-cache.ts'
import { cookieSecret, publicUrl } from '../data.ts'

/** Better Auth on a database file. The account page says when the password was set, so that is a field of the user. */
export function authOn(path: string) {
  const database = new Database(path)
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = normal')
  database.pragma(`cache_size = -${pageCacheSize}`)
  return betterAuth({
    database,
    baseURL: publicUrl,
    secret: cookieSecret,
    emailAndPassword: { enabled: true },
    user: { additionalFields: { passwordChangedAt: { type: 'date', required: true } } },
    plugins: [bearer()],
    advanced: { database: { joins: true } },
    telemetry: { enabled: false },
    logger: { disabled: true },
  })
}
