import { spawnSync } from 'node:child_process'
import Database from 'better-sqlite3'
import { startPostgres } from '../src/testing/postgres-server.ts'
import { defaultAmounts } from './data.ts'
import { lastUse, original, type Rows } from './database.ts'
import { loadCore } from './machine.ts'
import { migrate } from './make-database.ts'
import type { Figures } from './results.ts'
import { measureRounds, type RunLength } from './rounds.ts'
import type { Server } from './servers.ts'
import { taskOf } from './tasks.ts'

const name = 'koa_authenticators_bench'

/**
 * Measures bearer tokens and sessions on the PostgreSQL server at `TEST_DATABASE_URL`. Without that variable, starts a server
 * on the core of the load generator. That server writes each commit to the disk.
 */
export async function measurePostgres(
  serversOf: (task: string) => Server[],
  runLength: RunLength,
): Promise<Record<string, Figures>> {
  const given = process.env.TEST_DATABASE_URL
  const postgres = given === undefined ? await startPostgres({ isDurable: true }) : undefined
  process.once('exit', () => postgres?.process.kill('SIGQUIT'))
  if (postgres && loadCore !== undefined)
    spawnSync('taskset', ['--cpu-list', '--pid', `${loadCore}`, `${postgres.process.pid}`])
  const admin = given ?? postgres?.url ?? ''
  try {
    const rows = refreshed(await newDatabase(admin))
    const found: Record<string, Figures> = {}
    for (const key of ['bearer', 'session']) {
      const servers = serversOf(`postgres-${key}`).map((server) => ({ ...server, rows }))
      found[`postgres-${key}`] = await measureRounds(taskOf(key), servers, runLength)
    }
    return found
  } finally {
    await drop(admin)
    await postgres?.stop()
  }
}

/** Creates a database with the tables of the site, and copies the rows of the SQLite database into it. */
async function newDatabase(admin: string): Promise<string> {
  const url = new URL(admin)
  url.pathname = `/${name}`
  await drop(admin)
  await run(admin, `create database ${name} template template0`)
  await migrate(url.href)
  const file = new Database(await original(defaultAmounts), { readonly: true })
  for (const table of ['users', 'user_tokens', 'sessions']) {
    const rows = file.prepare<[], object>(`select * from ${table}`).all()
    const json = JSON.stringify(rows.map(inPostgres))
    await run(
      url.href,
      `insert into ${table} select * from json_populate_recordset(null::${table}, $1)`,
      json,
    )
  }
  file.close()
  return url.href
}

/**
 * Sets the start of sessions, and the last use of sessions and tokens. Then vacuums the tables, because the updates leave old
 * versions of the rows.
 */
function refreshed(url: string): Rows {
  return async () => {
    const seen = new Date(lastUse()).toISOString()
    await run(url, 'update sessions set created_at = now(), seen_at = $1', seen)
    await run(url, 'update user_tokens set last_used_at = $1', seen)
    await run(url, 'vacuum analyze')
    return url
  }
}

/** SQLite keeps times as numbers and JSON as text. */
function inPostgres(row: object): object {
  const entries = Object.entries(row).map(([column, value]) => {
    if (column.endsWith('_at') && value !== null) return [column, new Date(value).toISOString()]
    return [column, column === 'data' ? JSON.parse(value) : value]
  })
  return Object.fromEntries(entries)
}

async function drop(admin: string): Promise<void> {
  await run(admin, `drop database if exists ${name} with (force)`)
}

async function run(url: string, statement: string, ...values: string[]): Promise<void> {
  const { default: pg } = await import('pg')
  // Filling the tables takes longer than the time limit that the migrations set for the role.
  const client = new pg.Client({ connectionString: url, options: '-c statement_timeout=0' })
  await client.connect()
  try {
    await client.query(statement, values)
  } finally {
    await client.end()
  }
}
