import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { MikroORM } from '@mikro-orm/core'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { migrations } from '../../migrations/index.ts'
import { schema } from '../../schema.ts'
import { startProxy } from '../../testing/database-proxy.ts'
import { makeDatabase, makeEmptyDatabase, onlyPostgres, patientSchema } from '../../testing/test-database.ts'
import { User } from '../../users/user.ts'
import { DatabaseError } from '../database-error.ts'
import { openDatabase } from '../open-database.ts'

const migrationLock = 4_115_417_190_612

async function emptyDatabase(t: TestContext) {
  const { url, drop } = await makeEmptyDatabase()
  const opened: MikroORM[] = []
  t.after(async () => {
    for (const orm of opened) await orm.close()
    await drop()
  })
  const open = async (options = patientSchema) => {
    const orm = await openDatabase(url, options)
    opened.push(orm)
    return orm
  }
  return { url, open }
}

function execute(orm: MikroORM, sql: string): Promise<Record<string, unknown>[]> {
  return (orm.em.getConnection() as AbstractSqlConnection).execute(sql)
}

/** Returns the message for the operator. Asserts that it contains no secret and no SQL. */
async function refusal(url: string): Promise<string> {
  const error = await openDatabase(url, schema).then(
    () => assert.fail('The database was opened.'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof DatabaseError)
  assert.doesNotMatch(error.message, /hunter2|select|\n/)
  assert.ok(!error.message.includes(new URL(url).password))
  return error.message
}

describe('openDatabase on PostgreSQL', onlyPostgres, () => {
  test('creates the tables, and opens the database again', async (t) => {
    const { open } = await emptyDatabase(t)
    await open()
    const second = await open()
    const done = await execute(second, 'select name from mikro_orm_migrations order by id')
    assert.deepEqual(
      done.map(({ name }) => name),
      migrations.map(({ name }) => name),
    )
    assert.equal(await second.em.fork().count(User), 0)
  })

  test('N12 runs each migration once when many calls open an empty database', async (t) => {
    const { open } = await emptyDatabase(t)
    const [orm = assert.fail()] = await Promise.all(Array.from({ length: 8 }, () => open()))
    const done = await execute(orm, 'select name from mikro_orm_migrations')
    assert.equal(done.length, migrations.length)
  })

  test('N12 waits while another connection holds the migration lock, and holds no lock afterwards', async (t) => {
    const { open } = await emptyDatabase(t)
    const orm = await open()
    const connection = orm.em.getConnection() as AbstractSqlConnection
    const other = await connection.begin()
    await connection.execute(`select pg_advisory_xact_lock(${migrationLock})`, [], 'all', other)
    let isOpen = false
    const opening = open().then(() => {
      isOpen = true
    })
    const waits = `select 1 from pg_stat_activity where query like '%pg_advisory_xact_lock(${migrationLock})%'
      and datname = current_database() and wait_event = 'advisory'`
    while ((await execute(orm, waits)).length === 0) await new Promise(setImmediate)
    assert.equal(isOpen, false)
    await connection.rollback(other)
    await opening
    const held = await execute(
      orm,
      "select 1 from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
    )
    assert.deepEqual(held, [])
  })

  test('makes the time limits settings of the role in this database, and keeps those of the operator', async (t) => {
    const { open } = await emptyDatabase(t)
    const limits = async () => {
      const orm = await open({ ...schema, timeout: 2_000 })
      const names = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout']
      const values = names.map((name) => `current_setting('${name}') as ${name}`)
      return { orm, limits: (await execute(orm, `select ${values}`))[0] }
    }
    const first = await limits()
    const expected = {
      lock_timeout: '2s',
      statement_timeout: '2250ms',
      idle_in_transaction_session_timeout: '5s',
    }
    assert.deepEqual(first.limits, expected)
    const [{ name } = assert.fail()] = await execute(first.orm, 'select current_database() as name')
    await execute(first.orm, `alter role current_user in database ${name} set lock_timeout = '1s'`)
    assert.deepEqual((await limits()).limits, { ...expected, lock_timeout: '1s' })
  })

  test('N1 explains a wrong password, database, port and host without secrets', async (t) => {
    const { url: known } = await emptyDatabase(t)
    const { host, pathname } = new URL(known)
    const wrongPassword = new URL(known)
    wrongPassword.password = 'hunter2'
    assert.equal(
      await refusal(wrongPassword.href),
      `The database postgres://${host}${pathname} cannot be used: 28P01. Check the user and the password in DATABASE_URL.`,
    )
    const nowhere = new URL(known)
    nowhere.pathname = '/nowhere'
    assert.equal(
      await refusal(nowhere.href),
      `The database postgres://${host}/nowhere cannot be used: 3D000. It does not exist. Create it, or correct DATABASE_URL.`,
    )
    assert.equal(
      await refusal('postgres://me:hunter2@127.0.0.1:1/site'),
      'The database postgres://127.0.0.1:1/site cannot be used: ECONNREFUSED. Check the server and DATABASE_URL.',
    )
    assert.equal(
      await refusal('postgres://me:hunter2@nowhere.invalid/site'),
      'The database postgres://nowhere.invalid/site cannot be used: ENOTFOUND. Check the server and DATABASE_URL.',
    )
  })

  test('N1 N13 rejects a read-only server, and is not ready while the server is read-only', async (t) => {
    const { url, open } = await emptyDatabase(t)
    const orm = await open()
    assert.equal(await orm.isConnected(), true)
    const [{ name } = assert.fail()] = await execute(orm, 'select current_database() as name')
    await execute(orm, `alter database ${name} set default_transaction_read_only = on`)
    assert.match(
      await refusal(url),
      /^The database .* cannot be used: 25006\. It is read-only, for example because its server is a standby\. /,
    )
    await execute(orm, 'set default_transaction_read_only = on')
    assert.equal(await orm.isConnected(), false)
  })

  test('N1 gives up on a silent server', async (t) => {
    const { url } = await emptyDatabase(t)
    const proxy = await startProxy(t, url)
    proxy.dropData()
    assert.match(
      await refusal(proxy.url),
      /^The database .* cannot be used: time limit\. Check the server and DATABASE_URL\.$/,
    )
  })
})

describe('postgres', onlyPostgres, () => {
  test('orders text by bytes', async (t) => {
    const { url, drop } = await makeDatabase('')
    const orm = await openDatabase(url, patientSchema)
    t.after(async () => {
      await orm.close()
      await drop()
    })
    const em = orm.em.fork()
    for (const key of ['b', 'B', 'a', 'ä', 'a-b', 'ab', 'a_'])
      em.create(User, { name: key, email: key, emailKey: key, passwordHash: '' })
    await em.flush()
    const found = await orm.em.fork().findAll(User, { orderBy: { emailKey: 'asc' } })
    assert.deepEqual(
      found.map(({ email }) => email),
      ['B', 'a', 'a-b', 'a_', 'ab', 'b', 'ä'],
    )
  })
})
