import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { DriverException, IsolationLevel, UniqueConstraintViolationException } from '@mikro-orm/core'
import type { AbstractSqlConnection, Transaction } from '@mikro-orm/sqlite'
import { schema } from '../../schema.ts'
import { startProxy } from '../../testing/database-proxy.ts'
import { makeEmptyDatabase, onlyPostgres } from '../../testing/test-database.ts'
import { openDatabase } from '../open-database.ts'

/** A database with a table of two notes, behind a proxy, and a small pool. */
async function open(t: TestContext, { connections = 2, timeout = 2_000 } = {}) {
  const { url, drop } = await makeEmptyDatabase()
  const proxy = await startProxy(t, url)
  const orm = await openDatabase(proxy.url, { ...schema, connections, timeout })
  const connection = orm.em.getConnection() as AbstractSqlConnection
  const run = (sql: string, transaction?: Transaction) =>
    connection.execute<{ n: number }[]>(sql, [], 'all', transaction)
  await run(
    "create table test_notes (id int primary key, text text not null); insert into test_notes values (1, 'one'), (2, 'two')",
  )
  t.after(async () => {
    await orm.close()
    await drop()
  })
  return {
    orm,
    connection,
    run,
    proxy,
    count: async () => Number((await run('select count(*) as n from test_notes'))[0]?.n),
  }
}

describe('KyselyPostgresDriver', onlyPostgres, () => {
  test('N10 serves more concurrent queries than it has connections', async (t) => {
    const { count } = await open(t, { timeout: 600_000 })
    const all = await Promise.all(Array.from({ length: 20 }, count))
    assert.deepEqual(new Set(all), new Set([2]))
  })

  test('N10 gives up waiting for a free connection, and recovers immediately', async (t) => {
    const { connection, count } = await open(t)
    const held = [await connection.begin(), await connection.begin()]
    await Promise.all(Array.from({ length: 20 }, () => assert.rejects(count(), { code: 'time limit' })))
    for (const transaction of held) await connection.rollback(transaction)
    assert.equal(await count(), 2)
  })

  test('N10 gives up waiting for a lock and for a long statement, and keeps the connection', async (t) => {
    const { connection, run, count } = await open(t)
    const other = await connection.begin()
    await run("update test_notes set text = 'other' where id = 1", other)
    await assert.rejects(run("update test_notes set text = 'mine' where id = 1"), { code: '55P03' })
    await assert.rejects(run('select pg_sleep(60)'), { code: '57014' })
    await connection.rollback(other)
    assert.equal(await count(), 2)
  })

  test('N2 gives up waiting for a silent server, closes the connection, and recovers with the server', async (t) => {
    const { count, connection, proxy } = await open(t)
    await Promise.all([count(), count()])
    proxy.dropData()
    await Promise.all(
      [count(), count(), connection.begin()].map((work) => assert.rejects(work, { code: 'time limit' })),
    )
    proxy.recover()
    assert.deepEqual(await Promise.all(Array.from({ length: 10 }, count)), Array(10).fill(2))
  })

  test('survives the loss of idle connections and of a connection in a transaction', async (t) => {
    const { run, count, connection } = await open(t)
    // `pg_terminate_backend` waits until the connections are closed.
    const end =
      'select pg_terminate_backend(pid, 2000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
    await Promise.all([count(), count()])
    await run(end)
    assert.equal(await count(), 2)
    const transaction = await connection.begin()
    await run("update test_notes set text = 'lost' where id = 1", transaction)
    await run(end)
    await assert.rejects(run('select 1', transaction), DriverException)
    await connection.rollback(transaction)
    assert.deepEqual(await run("select count(*)::int as n from test_notes where text = 'lost'"), [{ n: 0 }])
    for (let i = 0; i < 5; i += 1) assert.equal(await count(), 2)
  })

  test('N10 leaks no connection if the begin, commit or rollback of a transaction fails', async (t) => {
    const { run, count, connection, proxy } = await open(t)
    for (let i = 0; i < 3; i += 1) {
      const [one, other] = [await connection.begin(), await connection.begin()]
      // Closes the open connections, so the commit fails.
      proxy.recover()
      await assert.rejects(connection.commit(one))
      await connection.rollback(one)
      await connection.rollback(other)
    }
    // PostgreSQL has no such isolation level, so `begin` fails.
    for (let i = 0; i < 5; i += 1)
      await assert.rejects(connection.begin({ isolationLevel: IsolationLevel.SNAPSHOT }), DriverException)
    await run('alter table test_notes add constraint late unique (text) deferrable initially deferred')
    for (let i = 0; i < 5; i += 1)
      await assert.rejects(
        connection.transactional((trx) => run("insert into test_notes values (3, 'one')", trx)),
        UniqueConstraintViolationException,
      )
    assert.deepEqual(await Promise.all([count(), count(), count()]), [2, 2, 2])
  })

  test('closes a connection whose server has become read-only', async (t) => {
    const { run, count } = await open(t, { connections: 1 })
    await run('set default_transaction_read_only = on')
    await assert.rejects(run('delete from test_notes'), { code: '25006' })
    await run('delete from test_notes where id = 1')
    assert.equal(await count(), 1)
  })

  test('rejects a NUL in a value, and keeps the connection', async (t) => {
    const { connection, count } = await open(t)
    await assert.rejects(connection.execute('select ? as n', ["\0'; drop table test_notes --"]), {
      code: '22021',
    })
    assert.equal(await count(), 2)
  })
})
