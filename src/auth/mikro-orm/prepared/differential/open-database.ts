import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import {
  type Constructor,
  type CreateSchemaOptions,
  type IDatabaseDriver,
  MikroORM,
  type Options,
} from '@mikro-orm/core'
import { PostgreSqlDriver } from '@mikro-orm/postgresql'
import { SqliteDriver } from '@mikro-orm/sqlite'

/** Options of MikroORM for any driver. */
export type AnyOptions = Partial<Options>

const server = process.env.TEST_DATABASE_URL

/** Whether the tests run on the PostgreSQL server that `TEST_DATABASE_URL` names, instead of SQLite. */
export const isOnPostgres = server !== undefined

/** Test options that skip a test on SQLite. */
export const onlyPostgres = { skip: !isOnPostgres && 'PostgreSQL only: npm run postgres' }

/** Test options that skip a test on PostgreSQL. */
export const onlySqlite = { skip: isOnPostgres && 'SQLite only' }

/** Makes an empty database with the tables of the entities. Opens an ORM on it until the test ends. */
export async function openDatabase(
  t: TestContext,
  options: AnyOptions,
  create?: CreateSchemaOptions,
): Promise<MikroORM> {
  const orm = await MikroORM.init({ ...connectionTo(await makeDatabase(t)), ...options })
  t.after(() => orm.close(true))
  await orm.schema.create(create)
  return orm
}

const unused: MikroORM[] = []

/** Makes an empty database for one test. Returns its name. */
export async function makeDatabase(t: TestContext): Promise<string> {
  if (!isOnPostgres) return ':memory:'
  const used = unused.pop()
  if (used) await execute(used, dropSchemas)
  const orm = used ?? (await createDatabase())
  // The next test reuses the database and this connection, because emptying a database is much faster than creating one.
  t.after(() => void unused.push(orm))
  return orm.config.get('dbName') ?? ''
}

const dropSchemas = `do $$ declare name text; begin
  for name in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
  loop execute format('drop schema %I cascade', name); end loop;
  create schema public;
end $$`

async function createDatabase(): Promise<MikroORM> {
  const name = `koa_differential_${randomBytes(8).toString('hex')}`
  await onServer(`create database ${name} template template0 strategy file_copy`)
  return connect(name)
}

/** Drops the databases that the tests of this process have created. */
export async function dropDatabases(): Promise<void> {
  for (const orm of unused.splice(0)) {
    await orm.close(true)
    await onServer(`drop database ${orm.config.get('dbName')} with (force)`)
  }
}

async function onServer(sql: string): Promise<void> {
  const orm = await connect('postgres')
  await execute(orm, sql)
  await orm.close(true)
}

/** Runs a statement. */
export function execute({ em }: MikroORM, sql: string): Promise<unknown> {
  return em.getConnection().execute(sql)
}

function connect(name: string): Promise<MikroORM> {
  return MikroORM.init({ ...connectionTo(name), discovery: { warnWhenNoEntities: false } })
}

/** MikroORM's options for a test database. */
export function connectionTo(dbName: string): AnyOptions {
  if (!server) return { driver: SqliteDriver as Constructor<IDatabaseDriver>, dbName }
  const clientUrl = Object.assign(new URL(server), { pathname: `/${dbName}` }).href
  return { driver: PostgreSqlDriver as unknown as Constructor<IDatabaseDriver>, clientUrl, dbName }
}
