import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { DriverException, IsolationLevel, UniqueConstraintViolationException } from '@mikro-orm/core'
import type { AbstractSqlConnection, Transaction } from '@mikro-orm/sqlite'
import { schema } from '../../schema.ts'
import { startProxy } from '../../testing/database-proxy.ts'
import { scaledLimit } from '../../testing/scaled-limit.ts'
import { makeEmptyDatabase, onlyPostgres } from '../../testing/test-database.ts'
import { openDatabase } from '../open-database.ts'

/** A database with a table of two notes, behind a proxy, and a small pool. */
async function open(t: TestContext, { connections = 2 } = {}) {
  const { url, drop } = await makeEmptyDatabase()
  const proxy = await startProxy(t, url)
  const orm = await openDatabase(proxy.url, { ...schema, connections })
  const connection = orm.em.getConnection() as AbstractSqlConnection
  const run = (sql: string, transaction?: Transaction) =>
    connection.execute<{ n: number }[]>(sql, [], 'all', transaction)
  await run(
    "create table notes (id int primary key, text text not null); insert into notes values (1, 'one'), (2, 'two')",
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
    count: async () => Number((await run('select count(*) as n from notes'))[0]?.n),
  }
}

/** The milliseconds until the work fails. */
async function failure(work: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await assert.rejects(work, DriverException)
  return performance.now() - start
}

describe('KyselyPostgresDriver', onlyPostgres, () => {
  test('N10 serves more concurrent queries than it has connections', async (t) => {
    const { count } = await open(t)
    const all = await Promise.all(Array.from({ length: 200 }, count))
    assert.deepEqual(new Set(all), new Set([2]))
  })

  test('N10 waits at most two seconds for a free connection, and recovers immediately', async (t) => {
    const { connection, count } = await open(t)
    const held = [await connection.begin(), await connection.begin()]
    const waits = await Promise.all(Array.from({ length: 100 }, () => failure(count())))
    for (const wait of waits) assert.ok(wait > 1_500 && wait < 2_900, `${wait} ms`)
    for (const transaction of held) await connection.rollback(transaction)
    assert.equal(await count(), 2)
  })

  test('waits at most two seconds for a lock', async (t) => {
    const { connection, run } = await open(t)
    const other = await connection.begin()
    await run("update notes set text = 'other' where id = 1", other)
    const wait = await failure(run("update notes set text = 'mine' where id = 1"))
    assert.ok(wait > 1_500 && wait < 2_900, `${wait} ms`)
    await connection.rollback(other)
  })

  test('cancels a long statement within three seconds', async (t) => {
    const { run, count } = await open(t)
    const wait = await failure(run('select pg_sleep(60)'))
    assert.ok(wait < 2_900, `${wait} ms`)
    assert.equal(await count(), 2)
  })

  test('N2 detects a silent server within three seconds, then fails immediately, and recovers with the server', async (t) => {
    const { run, count, connection, proxy } = await open(t)
    await Promise.all([count(), count()])
    proxy.dropData()
    const [first, second, waiting] = await Promise.all([count(), count(), count()].map(failure))
    for (const wait of [first, second, waiting]) assert.ok((wait ?? 0) < 3_000, `${wait} ms`)
    for (let i = 0; i < 5; i += 1) assert.ok((await failure(count())) < scaledLimit(0.1) * 1000)
    assert.ok((await failure(connection.begin())) < scaledLimit(0.1) * 1000)
    // After one second, the circuit breaker lets the next call try again.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    assert.ok((await failure(count())) < 3_000)
    proxy.recover()
    const deadline = performance.now() + 5_000
    while (
      performance.now() < deadline &&
      !(await count().then(
        () => true,
        () => false,
      ))
    )
      await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(await count(), 2)
    await Promise.all(Array.from({ length: 10 }, () => run('select 1')))
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
    await run("update notes set text = 'lost' where id = 1", transaction)
    await run(end)
    await failure(run('select 1', transaction))
    await connection.rollback(transaction)
    assert.deepEqual(await run("select count(*)::int as n from notes where text = 'lost'"), [{ n: 0 }])
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
      await failure(connection.begin({ isolationLevel: IsolationLevel.SNAPSHOT }))
    await run('alter table notes add constraint late unique (text) deferrable initially deferred')
    for (let i = 0; i < 5; i += 1)
      await assert.rejects(
        connection.transactional((trx) => run("insert into notes values (3, 'one')", trx)),
        UniqueConstraintViolationException,
      )
    assert.deepEqual(await Promise.all([count(), count(), count()]), [2, 2, 2])
  })

  test('ends a transaction that is idle for five seconds, and releases its locks', async (t) => {
    const { connection, run } = await open(t)
    const other = await connection.begin()
    await run("update notes set text = 'other' where id = 1", other)
    await new Promise((resolve) => setTimeout(resolve, 5_500))
    await run("update notes set text = 'mine' where id = 1")
    await failure(run('select 1', other))
    await connection.rollback(other)
  })

  test('retries a single statement that lost a deadlock, but no statement of a transaction', async (t) => {
    const { connection, run } = await open(t, { connections: 4 })
    // Two concurrent calls lock both rows in opposite orders, with a pause between the locks.
    await run(`create function swap(a int, b int) returns void language plpgsql as $$ begin
      perform set_config('deadlock_timeout', '100ms', true);
      update notes set text = text where id = a; perform pg_sleep(0.2);
      update notes set text = text where id = b; end $$`)
    await Promise.all([run('select swap(1, 2)'), run('select swap(2, 1)')])
    const pair = ([a, b]: [number, number]) =>
      connection.transactional((trx) => run(`select swap(${a}, ${b})`, trx))
    const [one, other] = await Promise.allSettled([pair([1, 2]), pair([2, 1])])
    assert.deepEqual([one.status, other.status].sort(), ['fulfilled', 'rejected'])
  })

  test('rejects a NUL in a value, and keeps the connection', async (t) => {
    const { connection, count } = await open(t)
    await assert.rejects(connection.execute('select ? as n', ["\0'; drop table notes --"]), { code: '22021' })
    assert.equal(await count(), 2)
  })
})
