import { createRequire } from 'node:module'
import Database from 'better-sqlite3'
import type { PoolClient } from '../../database/postgres/pool.ts'

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

// A dependency of MikroORM, without types.
const { Client }: { Client: { prototype: PoolClient } } = createRequire(import.meta.url)('pg')
const { query } = Client.prototype

Client.prototype.query = function (this: PoolClient, statement, ...values) {
  killIfDue(typeof statement === 'string' ? statement : statement.text)
  return query.call(this, statement, ...values)
}

function killIfDue(sql: string): void {
  if (/^\s*(create|alter|drop|insert|commit)\b/i.test(sql)) left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}
