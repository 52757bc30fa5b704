import { spawnSync } from 'node:child_process'
import Database from 'better-sqlite3'
import { openDatabase } from '../src/database/open-database.ts'
import { schema } from '../src/schema.ts'
import { startPostgres } from '../src/testing/postgres-server.ts'
import { usual } from './data.ts'
import { database } from './database.ts'
import { loadCore } from './machine.ts'
import type { Rows } from './servers.ts'

const hour = 60 * 60 * 1000
const day = 24 * hour
const name = 'koa_authenticators_bench'

/** The same rows on a PostgreSQL server, for as long as it runs. */
export interface PostgresRows extends Rows {
  stop(): Promise<void>
}

/** On the server that `TEST_DATABASE_URL` names, or on one of our own, with PostgreSQL's own settings. */
export async function postgresRows(): Promise<PostgresRows> {
  const given = process.env.TEST_DATABASE_URL
  const server = given === undefined ? await startPostgres({ isCareful: true }) : undefined
  const admin = given ?? server?.url ?? ''
  // Whoever ends the benchmark ends its server.
  process.once('exit', () => server?.process.kill('SIGQUIT'))
  // The core of the servers is theirs alone.
  if (server && loadCore !== undefined)
    spawnSync('taskset', ['--cpu-list', '--pid', `${loadCore}`, `${server.process.pid}`])
  const url = new URL(admin)
  url.pathname = `/${name}`
  const drop = () => run(admin, `drop database if exists ${name} with (force)`)
  const stop = async () => {
    await drop()
    await server?.stop()
  }
  try {
    await drop()
    await run(admin, `create database ${name} template template0`)
    await (await openDatabase(url.href, schema)).close()
    await fill(url.href)
  } catch (error) {
    await stop()
    throw error
  }
  // What is never due needs no refreshing.
  return { database: async () => url.href, refresh: () => {}, isShared: true, stop }
}

/**
 * Copies the rows of SQLite. They say that they were used an hour from now, so that nobody has to note it while we
 * measure: to say it of all of them again and again would leave as many dead rows behind.
 */
async function fill(url: string): Promise<void> {
  const file = new Database(await database(usual), { readonly: true })
  const now = Date.now()
  const times: Record<string, object> = {
    users: {},
    user_tokens: { expires_at: now + 30 * day, last_used_at: now + hour },
    sessions: { created_at: now, seen_at: now + hour },
  }
  for (const [table, now] of Object.entries(times)) {
    const rows = file.prepare<[], object>(`select * from ${table}`).all()
    const json = JSON.stringify(rows.map((row) => inPostgres({ ...row, ...now })))
    await run(url, `insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, json)
    await run(url, `vacuum analyze ${table}`)
  }
  file.close()
}

/** SQLite keeps times as numbers, and JSON as text. */
function inPostgres(row: object): object {
  const entries = Object.entries(row).map(([column, value]) => {
    if (column.endsWith('_at') && value !== null) return [column, new Date(value).toISOString()]
    return [column, column === 'data' ? JSON.parse(value) : value]
  })
  return Object.fromEntries(entries)
}

async function run(url: string, statement: string, ...values: string[]): Promise<void> {
  // It comes with an optional part of the site: nobody else needs it.
  const { default: pg } = await import('pg')
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(statement, values)
  } finally {
    await client.end()
  }
}
