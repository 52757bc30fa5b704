// Another process on the same database, which commits ten times a second: as one with so many sign-ins does, or ten others that
// note once a second who was seen.
import Database from 'better-sqlite3'
import { databasePath } from './environment.ts'

const file = new Database(databasePath, { timeout: 5000 })
const touch = file.prepare(
  'update sessions set seen_at = seen_at where digest = (select min(digest) from sessions)',
)
setInterval(() => touch.run(), 100)
