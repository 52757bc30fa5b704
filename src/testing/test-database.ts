import { hash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { copyFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { openDatabase } from '../database/open-database.ts'
import { schema } from '../schema.ts'
import { connectTo } from './postgres-connection.ts'

const server = process.env.TEST_DATABASE_URL

/** Options of `openDatabase` with a time limit that no test meets by accident on a slow machine. */
export const patientSchema = { ...schema, timeout: 600_000 }

/** Whether the tests run on PostgreSQL, on the server at `TEST_DATABASE_URL`. */
export const isOnPostgres = server !== undefined

/** Options of a test that is skipped on PostgreSQL, with the reason. */
export function onlySqlite(reason: string): { skip: string | false } {
  return { skip: isOnPostgres && `SQLite only: ${reason}` }
}

/** Options of a test that is skipped on SQLite. */
export const onlyPostgres: { skip: string | false } = {
  skip: !isOnPostgres && 'PostgreSQL only: npm run postgres',
}

export interface TestDatabase {
  readonly url: string
  /** Closes all connections and refuses new ones. PostgreSQL only. */
  close(): Promise<void>
  /** Deletes a database on PostgreSQL, even with open connections. */
  drop(): Promise<void>
}

/** Creates a migrated database: a file in `folder`, or a copy of the template on the server. */
export async function makeDatabase(folder: string): Promise<TestDatabase> {
  if (!isOnPostgres) {
    await copyFile(await templateFile(), join(folder, 'site.sqlite'))
    return fileIn(folder)
  }
  const template = await templateName()
  // A copy of the files is the fastest way for a small database.
  return makeOnServer(`template ${template} strategy file_copy`)
}

/** Creates an empty database on the server. */
export function makeEmptyDatabase(): Promise<TestDatabase> {
  return makeOnServer('template template0')
}

async function makeOnServer(options: string): Promise<TestDatabase> {
  const name = `koa_test_${randomBytes(8).toString('hex')}`
  await onServer(`create database ${name} ${options}`)
  return {
    url: urlOf(name),
    async close() {
      await onServer(`alter database ${name} allow_connections false`)
      await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
    },
    drop: () => dropDatabase(name),
  }
}

let dropping: Promise<AbstractSqlConnection> | undefined
let lastDrop: Promise<unknown> | undefined

// PostgreSQL waits until the connections of the database have ended. The next test uses another connection and does not wait.
async function dropDatabase(name: string): Promise<void> {
  dropping ??= connectTo(server ?? '')
  await lastDrop
  lastDrop = (await dropping).execute(`drop database if exists ${name} with (force)`)
}

let file: Promise<string> | undefined

/** A migrated SQLite file, created once for each test process, because copying is faster than migrating. */
function templateFile(): Promise<string> {
  file ??= makeTemplateFile()
  return file
}

async function makeTemplateFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-template-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'site.sqlite')
  const orm = await openDatabase(`sqlite:${path}`, patientSchema)
  await orm.em.getConnection().execute('pragma wal_checkpoint(truncate)')
  await orm.close()
  return path
}

function fileIn(folder: string): TestDatabase {
  return {
    url: `sqlite:${join(folder, 'site.sqlite')}`,
    close: () => Promise.reject(new Error('SQLite has no server that could close connections.')),
    // The file is deleted with its folder.
    drop: async () => {},
  }
}

/** Runs a statement in the database of `TEST_DATABASE_URL`. */
export async function onServer(statement: string): Promise<void> {
  await (await connection()).execute(statement)
}

let template: Promise<string> | undefined

// The template is migrated once. Its name contains a digest of the migrations.
function templateName(): Promise<string> {
  template ??= makeTemplate()
  return template
}

async function makeTemplate(): Promise<string> {
  const folder = join(import.meta.dirname, '../migrations')
  const migrations = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  const name = `koa_template_${hash('sha256', migrations.join()).slice(0, 16)}`
  const admin = await connection()
  // One process creates the template, and the others wait for the lock of its connection.
  await admin.execute('select pg_advisory_lock(1)')
  try {
    const found = await admin.execute(`select 1 from pg_database where datname = '${name}'`)
    if (found.length > 0) return name
    const unfinished = `${name}_unfinished`
    await admin.execute(`drop database if exists ${unfinished} with (force)`)
    await admin.execute(`create database ${unfinished} template template0`)
    await (await openDatabase(urlOf(unfinished), patientSchema)).close()
    await admin.execute(`alter database ${unfinished} rename to ${name}`)
    return name
  } finally {
    await admin.execute('select pg_advisory_unlock(1)')
  }
}

let admin: Promise<AbstractSqlConnection> | undefined

function connection(): Promise<AbstractSqlConnection> {
  admin ??= connectTo(server ?? '')
  return admin
}

function urlOf(name: string): string {
  const url = new URL(server ?? '')
  url.pathname = `/${name}`
  return url.href
}
