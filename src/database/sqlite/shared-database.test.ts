import assert from 'node:assert/strict'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { DriverException, type EntityManager, LockWaitTimeoutException, MikroORM } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { databaseOptions } from '../options.ts'
import type { PatientSqliteConnection } from './patient-sqlite.ts'

/** A database with one table, and a second connection to it, which may belong to another process. */
async function open(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
  const path = join(folder, 'notes.sqlite')
  const orm = await MikroORM.init(await databaseOptions(`sqlite:${path}`))
  await orm.connect()
  const other = new Database(path, { timeout: 0 })
  other.exec('create table notes (id integer primary key, text text not null unique)')
  t.after(async () => {
    other.close()
    await orm.close(true)
    await rm(folder, { recursive: true })
  })
  const run = (sql: string, em: EntityManager = orm.em.fork()): Promise<{ n: number }[]> =>
    em.getConnection().execute(sql, [], 'all', em.getTransactionContext())
  const count = async () => (await run('select count(*) as n from notes'))[0]?.n
  return { orm, other, run, count, path }
}

const note = (text: string) => `insert into notes (text) values ('${text}')`

describe('SharedDatabase', { concurrency: true }, () => {
  test('never has SQLite itself wait, and with it the event loop', async (t) => {
    const { run } = await open(t)
    assert.deepEqual(await run('pragma busy_timeout'), [{ timeout: 0 }])
  })

  test('reads while another process writes, and while statements and transactions of ours wait for it', async (t) => {
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

  test('gives up after two seconds, with an error that MikroORM knows, and is well again at once', async (t) => {
    const { orm, other, run, count } = await open(t)
    other.exec('begin exclusive')
    const start = performance.now()
    const waiting = [
      run(note('one')),
      orm.em.transactional((em) => run(note('two'), em)),
      run(note('three')),
    ].map((each) => assert.rejects(each, LockWaitTimeoutException))
    await Promise.all(waiting)
    const seconds = (performance.now() - start) / 1000
    assert.ok(seconds >= 1.9 && seconds < 2.9, `${seconds} s`)
    other.exec('rollback')
    await orm.em.transactional((em) => run(note('four'), em))
    assert.equal(await count(), 1)
  })

  test('lets a transaction take the lock before anything else, so that no other process comes between', async (t) => {
    const { orm, other, run } = await open(t)
    await orm.em.transactional(async (em) => {
      await run('select * from notes', em)
      assert.throws(() => other.exec(note('theirs')), { code: 'SQLITE_BUSY' })
      await run(note('ours'), em)
    })
    other.exec(note('theirs'))
  })

  test('keeps a transaction to itself: others wait, and what is rolled back takes nothing of theirs along', async (t) => {
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

  test('goes on after a transaction that SQLite rolled back by itself', async (t) => {
    const { orm, run, count } = await open(t)
    await run(`create trigger broken before insert on notes when new.text = 'bad'
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

  test('takes what fails in a nested transaction back, and nothing else', async (t) => {
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

  test('commits nothing into a file that was moved meanwhile', async (t) => {
    const { orm, run, count, path } = await open(t)
    const moved = orm.em.transactional(async (em) => {
      await run(note('lost'), em)
      await rename(path, `${path}.old`)
    })
    await assert.rejects(moved, { code: 'SQLITE_READONLY_DBMOVED' })
    await rename(`${path}.old`, path)
    await run(note('kept'))
    assert.equal(await count(), 1)
  })

  test('gives up a transaction that waits for something else too long, and lets none of it through', async (t) => {
    const { orm, run, count } = await open(t)
    const stuck = orm.em.transactional(async (em) => {
      await run(note('lost'), em)
      // Another connection than its own, which it keeps waiting: nobody would ever get any further.
      await run(note('through'))
      await run(note('lost too'), em)
    })
    await assert.rejects(stuck, /This transaction is over/)
    assert.equal(await count(), 1)
  })

  test('is written past by nobody in a transaction, into a file that is not in place, or when it is closed', async (t) => {
    const { orm, path } = await open(t)
    const connection = orm.em.getConnection() as PatientSqliteConnection
    const client = await connection.getNativeClient()
    connection.assertWritable(client)
    await orm.em.transactional(async () => {
      assert.throws(() => connection.assertWritable(client), /transaction/)
    })
    await rename(path, `${path}.old`)
    assert.throws(() => connection.assertWritable(client), { code: 'SQLITE_READONLY_DBMOVED' })
    await rename(`${path}.old`, path)
    connection.assertWritable(client)
    await orm.close(true)
    assert.throws(() => connection.assertWritable(client), /closed/)
  })
})
