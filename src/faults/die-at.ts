import Database from 'better-sqlite3'

// Loaded before the server (`--import`): the process dies of SIGKILL in front of its n-th statement that changes the schema.
let left = Number(process.env.DIE_AT)

const { prepare, exec } = Database.prototype

Database.prototype.prepare = function (this: Database.Database, sql: string) {
  if (/^\s*(create|alter|drop|insert)\b/i.test(sql)) dieIfTime()
  return prepare.call(this, sql)
} as typeof prepare

Database.prototype.exec = function (this: Database.Database, sql: string) {
  if (sql === 'commit') dieIfTime()
  return exec.call(this, sql)
}

function dieIfTime(): void {
  left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}
