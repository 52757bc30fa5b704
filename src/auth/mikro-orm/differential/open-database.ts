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

/** Options of MikroORM, for whichever driver. */
export type AnyOptions = Partial<Options>

const server = process.env.TEST_DATABASE_URL

/** Whether the tests run on the PostgreSQL server that `TEST_DATABASE_URL` names, instead of SQLite. */
export const isOnPostgres = server !== undefined

/** Test options for a feature that only PostgreSQL has. */
export const onlyPostgres = { skip: !isOnPostgres && 'PostgreSQL only: npm run postgres' }

/** Test options for a feature that only SQLite has. */
export const onlySqlite = { skip: isOnPostgres && 'SQLite only' }

/** Opens an ORM over an empty database with the tables of the entities. Both end with the test. */
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

/** Makes a database that is dropped after the test. Returns its name. */
export async function makeDatabase(t: TestContext): Promise<string> {
  if (!isOnPostgres) return ':memory:'
  const admin = await MikroORM.init({ ...connectionTo('postgres'), discovery: { warnWhenNoEntities: false } })
  const name = `koa_differential_${randomBytes(8).toString('hex')}`
  const execute = (sql: string) => admin.em.getConnection().execute(sql)
  await execute(`create database ${name} template template0 strategy file_copy`)
  t.after(async () => {
    await execute(`drop database ${name} with (force)`)
    await admin.close(true)
  })
  return name
}

/** The options that connect MikroORM to a database of the tests. */
export function connectionTo(dbName: string): AnyOptions {
  if (!server) return { driver: SqliteDriver as Constructor<IDatabaseDriver>, dbName }
  const clientUrl = Object.assign(new URL(server), { pathname: `/${dbName}` }).href
  return { driver: PostgreSqlDriver as unknown as Constructor<IDatabaseDriver>, clientUrl, dbName }
}
