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

/** Whether the tests run on PostgreSQL: on the server that `TEST_DATABASE_URL` names, where they may make databases. */
export const isOnPostgres = server !== undefined

/** For a test that is about SQLite itself: skipped on PostgreSQL, for this reason. */
export function onlySqlite(reason: string): { skip: string | false } {
  return { skip: isOnPostgres && `SQLite only: ${reason}` }
}

/** For a test that is about PostgreSQL itself: `npm run postgres` runs it. */
export const onlyPostgres: { skip: string | false } = {
  skip: !isOnPostgres && 'PostgreSQL only: npm run postgres',
}

/** A database for one test. */
export interface TestDatabase {
  readonly url: string
  /** Shuts everybody out, those who are connected too. Of PostgreSQL only. */
  close(): Promise<void>
  /** Lets them in again. */
  open(): Promise<void>
  /** Does away with it, whoever is connected. */
  drop(): Promise<void>
}

/** A new database: a file in this folder, or a copy of the template on the server. */
export async function makeDatabase(folder: string): Promise<TestDatabase> {
  if (!isOnPostgres) {
    await copyFile(await templateFile(), join(folder, 'site.sqlite'))
    return fileIn(folder)
  }
  const template = await templateName()
  // Of what is small, a copy of its files is made fastest.
  return makeOnServer(`template ${template} strategy file_copy`)
}

/** A new database on the server, with nothing in it. */
export function makeEmptyDatabase(): Promise<TestDatabase> {
  return makeOnServer('template template0')
}

async function makeOnServer(how: string): Promise<TestDatabase> {
  const name = `koa_test_${randomBytes(8).toString('hex')}`
  await onServer(`create database ${name} ${how}`)
  return {
    url: urlOf(name),
    async close() {
      await onServer(`alter database ${name} allow_connections false`)
      await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
    },
    open: () => onServer(`alter database ${name} allow_connections true`),
    drop: () => onServer(`drop database if exists ${name} with (force)`),
  }
}

let file: Promise<string> | undefined

/** A migrated SQLite file, made once for each test process: copying it is faster than migrating. */
function templateFile(): Promise<string> {
  file ??= makeTemplateFile()
  return file
}

async function makeTemplateFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-template-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'site.sqlite')
  const orm = await openDatabase(`sqlite:${path}`, schema)
  await orm.em.getConnection().execute('pragma wal_checkpoint(truncate)')
  await orm.close()
  return path
}

function fileIn(folder: string): TestDatabase {
  return {
    url: `sqlite:${join(folder, 'site.sqlite')}`,
    close: () => Promise.reject(new Error('Nobody is connected to a file.')),
    open: async () => {},
    // The folder goes, and the file with it.
    drop: async () => {},
  }
}

/** Runs a statement on the server, beside all databases. */
export async function onServer(statement: string): Promise<void> {
  await (await connection()).execute(statement)
}

let template: Promise<string> | undefined

// Migrated once for all: it is called by what the migrations are.
function templateName(): Promise<string> {
  template ??= makeTemplate()
  return template
}

async function makeTemplate(): Promise<string> {
  const folder = join(import.meta.dirname, '../migrations')
  const migrations = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  const name = `koa_template_${hash('sha256', migrations.join()).slice(0, 16)}`
  const admin = await connection()
  // Only one process makes it, and the others wait: a lock of a connection, of which there is one here.
  await admin.execute('select pg_advisory_lock(1)')
  try {
    const found = await admin.execute(`select 1 from pg_database where datname = '${name}'`)
    if (found.length > 0) return name
    const unfinished = `${name}_unfinished`
    await admin.execute(`drop database if exists ${unfinished} with (force)`)
    await admin.execute(`create database ${unfinished} template template0`)
    await (await openDatabase(urlOf(unfinished), schema)).close()
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
