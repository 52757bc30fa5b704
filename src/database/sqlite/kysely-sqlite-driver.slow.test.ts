import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { DriverException, type EntityManager, LockWaitTimeoutException, MikroORM } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { CompiledQuery } from 'kysely'
import { schema } from '../../schema.ts'
import { databaseOptions } from '../database-options.ts'
import { KyselySqliteDriver } from './kysely-sqlite-driver.ts'
import { sqlite } from './sqlite.ts'

/** A database with one table, and a second connection that simulates another process. A statement waits for `timeout` milliseconds. */
async function open(t: TestContext, timeout = 600_000) {
  const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
  const path = join(folder, 'test_notes.sqlite')
  const orm = await MikroORM.init(databaseOptions(sqlite(`sqlite:${path}`, { timeout }).options, schema))
  await orm.connect()
  const other = new Database(path, { timeout: 0 })
  other.exec('create table test_notes (id integer primary key, text text not null unique)')
  t.after(async () => {
    other.close()
    await orm.close(true)
    await rm(folder, { recursive: true })
  })
  const run = (sql: string, em: EntityManager = orm.em.fork()): Promise<{ n: number }[]> =>
    em.getConnection().execute(sql, [], 'all', em.getTransactionContext())
  const count = async () => (await run('select count(*) as n from test_notes'))[0]?.n
  return { orm, other, run, count, path }
}

const note = (text: string) => `insert into test_notes (text) values ('${text}')`

describe('KyselySqliteDriver', { concurrency: true }, () => {
  test('N3 sets no busy timeout, because it would block the event loop', async (t) => {
    const { run } = await open(t)
    assert.deepEqual(await run('pragma busy_timeout'), [{ timeout: 0 }])
  })

  test('N3 reads while another process writes, and while statements and transactions wait for its lock', async (t) => {
    const { orm, other, run, count } = await open(t)
    other.exec('begin exclusive')
    const statement = run(note('one'))
    const transaction = orm.em.transactional((em) => run(note('two'), em))
    for (let turns = 0; turns < 10; turns += 1) {
      assert.equal(await count(), 0)
      await turn()
    }
    other.exec('rollback')
    await Promise.all([statement, transaction])
    assert.equal(await count(), 2)
  })

  test('N3 fails with LockWaitTimeoutException after its time limit, and recovers immediately', async (t) => {
    const { orm, other, run, count } = await open(t, 100)
    other.exec('begin exclusive')
    const waiting = [
      run(note('one')),
      orm.em.transactional((em) => run(note('two'), em)),
      run(note('three')),
    ].map((each) => assert.rejects(each, LockWaitTimeoutException))
    await Promise.all(waiting)
    other.exec('rollback')
    await orm.em.transactional((em) => run(note('four'), em))
    assert.equal(await count(), 1)
  })

  test('retries a statement that found the database locked just before a transaction began', async (t) => {
    const { path, other, count } = await open(t)
    const database = new Database(path, { timeout: 0 })
    t.after(() => void database.close())
    const driver = new KyselySqliteDriver(database, 600_000, (error) => error)
    await driver.init()
    const [one, two] = [await driver.acquireConnection(), await driver.acquireConnection()]
    other.exec('begin exclusive')
    const waiting = one.executeQuery(CompiledQuery.raw(note('one')))
    other.exec('rollback')
    await driver.beginTransaction(two)
    await two.executeQuery(CompiledQuery.raw(note('two')))
    await driver.commitTransaction(two)
    await waiting
    assert.equal(await count(), 2)
  })

  test('takes the write lock at the start of a transaction', async (t) => {
    const { orm, other, run } = await open(t)
    await orm.em.transactional(async (em) => {
      await run('select * from test_notes', em)
      assert.throws(() => other.exec(note('theirs')), { code: 'SQLITE_BUSY' })
      await run(note('ours'), em)
    })
    other.exec(note('theirs'))
  })

  test('isolates a transaction: other statements wait and survive its rollback', async (t) => {
    const { orm, run, count } = await open(t)
    const failing = orm.em.transactional(async (em) => {
      await run(note('lost'), em)
      for (let turns = 0; turns < 5; turns += 1) await turn()
      throw new Error('no')
    })
    const others = [run(note('one')), orm.em.transactional((em) => run(note('two'), em)), run(note('three'))]
    await assert.rejects(failing, /^Error: no$/)
    await Promise.all(others)
    assert.equal(await count(), 3)
  })

  test('continues after a transaction that SQLite rolled back by itself', async (t) => {
    const { orm, run, count } = await open(t)
    await run(`create trigger broken before insert on test_notes when new.text = 'bad'
               begin select raise(rollback, 'by itself'); end`)
    const failing = orm.em.transactional(async (em) => {
      await run(note('good'), em)
      await run(note('bad'), em)
    })
    await assert.rejects(failing, DriverException)
    assert.equal(await count(), 0)
    await orm.em.transactional((em) => run(note('good'), em))
    assert.equal(await count(), 1)
  })

  test('rolls back only the failed nested transaction', async (t) => {
    const { orm, run, count } = await open(t)
    await orm.em.transactional(async (em) => {
      await run(note('outer'), em)
      const inner = em.transactional(async (em) => {
        await run(note('inner'), em)
        throw new Error('no')
      })
      await assert.rejects(inner, /^Error: no$/)
      await em.transactional((em) => run(note('another'), em))
    })
    assert.equal(await count(), 2)
  })

  test('fails a statement that waits for its own transaction, instead of waiting forever', async (t) => {
    const { orm, run, count } = await open(t, 100)
    const stuck = orm.em.transactional(async (em) => {
      await run(note('lost'), em)
      await run(note('waits'))
    })
    await assert.rejects(stuck, LockWaitTimeoutException)
    assert.equal(await count(), 0)
  })
})
