import Database from 'better-sqlite3'
import { type PostgresQuery, TimedClient } from '../../database/postgres/pool-client.ts'

// Loaded with `--import`. Kills the process with SIGKILL before the statement whose number is in `DIE_AT`. Counts only create,
// alter, drop, insert and commit.
let left = Number(process.env.DIE_AT)

const { prepare, exec } = Database.prototype

Database.prototype.prepare = function (this: Database.Database, sql: string) {
  killIfDue(sql)
  return prepare.call(this, sql)
} as typeof prepare

Database.prototype.exec = function (this: Database.Database, sql: string) {
  if (sql === 'commit') killIfDue(sql)
  return exec.call(this, sql)
}

const { query } = TimedClient.prototype

TimedClient.prototype.query = function (this: TimedClient, statement: PostgresQuery) {
  killIfDue(statement.text)
  return query.call(this, statement)
}

function killIfDue(sql: string): void {
  if (/^\s*(create|alter|drop|insert|commit)\b/i.test(sql)) left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}
