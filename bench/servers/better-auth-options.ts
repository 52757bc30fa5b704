import { betterAuth } from 'better-auth'
import { bearer } from 'better-auth/plugins'
import Database from 'better-sqlite3'
import { cookieSecret, publicUrl } from '../data.ts'
import { cacheSize } from './environment.ts'

export function authOn(path: string) {
  const database = new Database(path)
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = normal')
  database.pragma(`cache_size = -${cacheSize}`)
  return betterAuth({
    database,
    baseURL: publicUrl,
    secret: cookieSecret,
    emailAndPassword: { enabled: true },
    plugins: [bearer()],
    advanced: { database: { joins: true } },
    telemetry: { enabled: false },
    logger: { disabled: true },
  })
}
