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

/** Test options for a feature that only PostgreSQL has. */
export const onlyPostgres = { skip: !isOnPostgres && 'PostgreSQL only: npm run postgres' }

/** Test options for a feature that only SQLite has. */
export const onlySqlite = { skip: isOnPostgres && 'SQLite only' }

/** Opens an ORM on an empty database with the tables of the entities until the test ends. */
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

const unused: string[] = []

/** Makes an empty database for one test. Returns its name. */
export async function makeDatabase(t: TestContext): Promise<string> {
  if (!isOnPostgres) return ':memory:'
  const name = unused.pop()
  if (name) await onDatabase(name, dropSchemas)
  const made = name ?? `koa_differential_${randomBytes(8).toString('hex')}`
  if (!name) await onDatabase('postgres', `create database ${made} template template0 strategy file_copy`)
  // The next test reuses it, because emptying a database is much faster than creating one.
  t.after(() => void unused.push(made))
  return made
}

const dropSchemas = `do $$ declare name text; begin
  for name in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
  loop execute format('drop schema %I cascade', name); end loop;
  create schema public;
end $$`

/** Drops the databases of the tests of this process. */
export async function dropDatabases(): Promise<void> {
  for (const name of unused.splice(0)) await onDatabase('postgres', `drop database ${name} with (force)`)
}

async function onDatabase(name: string, sql: string): Promise<void> {
  const orm = await MikroORM.init({ ...connectionTo(name), discovery: { warnWhenNoEntities: false } })
  await orm.em.getConnection().execute(sql)
  await orm.close(true)
}

/** MikroORM's options for a test database. */
export function connectionTo(dbName: string): AnyOptions {
  if (!server) return { driver: SqliteDriver as Constructor<IDatabaseDriver>, dbName }
  const clientUrl = Object.assign(new URL(server), { pathname: `/${dbName}` }).href
  return { driver: PostgreSqlDriver as unknown as Constructor<IDatabaseDriver>, clientUrl, dbName }
}
