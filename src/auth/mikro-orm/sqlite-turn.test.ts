import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { MikroORM, SqliteDriver } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { rowOf } from '../testing/row-of.ts'
import { Busy, prepareRead } from './prepared-read.ts'
import { WalIndex } from './wal-index.ts'

const byID = { sql: 'select id, name from people where id = ?', table: 'people' }
const byName = { sql: 'select id, name from names where name = ?', table: 'names' }

/** A database with two tables, and statements that read from them. */
async function open(t: TestContext, { remember = true } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-turn-'))
  const path = join(folder, 'people.sqlite')
  const other = new Database(path)
  other.pragma('journal_mode = wal')
  for (const { table } of [byID, byName])
    other.exec(`create table ${table} (id text primary key, name text); insert into ${table}
      values ('1', 'Ada'), ('2', 'Grace'), ('3', 'Edith')`)
  const orm = await MikroORM.init({
    dbName: path,
    driver: SqliteDriver,
    entities: [],
    discovery: { warnWhenNoEntities: false },
  })
  t.after(async () => {
    await orm.close(true)
    other.close()
    await rm(folder, { recursive: true })
  })
  const client = (await orm.em.getConnection().getNativeClient()) as Database.Database
  const prepare = async ({ sql, table }: typeof byID) => {
    const read = await prepareRead(orm, { sql, keys: [{ table, key: 'id', column: 0 }] }, { remember })
    return async (value: string) => (await rowOf(read ?? assert.fail(), value))?.[1]
  }
  return { orm, other, client, prepare }
}

describe('what is asked in one turn', () => {
  test('is answered as it is after it was asked, and one look at the log is enough for all of it', async (t) => {
    const { other, client, prepare } = await open(t)
    const [people, names] = [await prepare(byID), await prepare(byName)]
    const ask = () => Promise.all([people('1'), people('2'), names('Ada'), names('Grace')])
    for (let i = 0; i < 3; i += 1) assert.deepEqual(await ask(), ['Ada', 'Grace', 'Ada', 'Grace'])
    const looks = t.mock.method(WalIndex.prototype, 'hasChanged')
    const reads = t.mock.method(Object.getPrototypeOf(client.prepare(byID.sql)), 'get')
    const asked = ask()
    other.exec("update people set name = 'Augusta' where id = '1'; delete from names where id = '2'")
    assert.deepEqual(await asked, ['Augusta', 'Grace', 'Ada', undefined])
    assert.equal(looks.mock.callCount(), 1)
    assert.equal(reads.mock.callCount(), 4)
    assert.deepEqual(await ask(), ['Augusta', 'Grace', 'Ada', undefined])
    assert.equal(reads.mock.callCount(), 5, 'nobody is not remembered')
  })

  test('has one transaction for many rows, none for one, and leaves none open', async (t) => {
    const { client, prepare } = await open(t, { remember: false })
    const people = await prepare(byID)
    const exec = t.mock.method(client, 'exec')
    const executed = () => {
      const all = exec.mock.calls.map((call) => call.arguments[0])
      exec.mock.resetCalls()
      return all.filter((sql) => sql !== '')
    }
    assert.equal(await people('1'), 'Ada')
    assert.deepEqual(executed(), [])
    for (let i = 0; i < 2; i += 1) {
      const all = ['1', '2', '3', '4']
      assert.deepEqual(await Promise.all(all.map(people)), ['Ada', 'Grace', 'Edith', undefined])
      assert.deepEqual(executed(), ['begin', 'commit'])
      assert.equal(client.inTransaction, false)
    }
  })

  for (const remember of [true, false])
    test(`fails alone where one statement fails, ${remember ? 'with' : 'without'} a memory`, async (t) => {
      const { client, prepare } = await open(t, { remember })
      const [people, names] = [await prepare(byID), await prepare(byName)]
      client.exec('drop table names')
      const all = [people('1'), people('2'), names('Ada'), people('3'), names('Grace')]
      const outcomes = await Promise.allSettled(all)
      assert.deepEqual(
        outcomes.map((each) => (each.status === 'fulfilled' ? each.value : `${each.reason}`)),
        ['Ada', 'Grace', 'SqliteError: no such table: names', 'Edith', 'SqliteError: no such table: names'],
      )
      assert.equal(client.inTransaction, false)
      assert.equal(await people('2'), 'Grace')
    })

  test('fails as a whole where this is no moment to read, and is answered again when it is', async (t) => {
    const { orm, prepare } = await open(t)
    const people = await prepare(byID)
    const connection: { assertReadable?(): void } & object = orm.em.getConnection()
    connection.assertReadable = () => {
      throw new Error('not now')
    }
    const outcomes = await Promise.allSettled([people('1'), people('2')])
    assert.ok(outcomes.every((each) => each.status === 'rejected' && /not now/.test(`${each.reason}`)))
    delete connection.assertReadable
    assert.equal(await people('1'), 'Ada')
  })

  test('tells nothing in a transaction that somebody else has open, nor while a query is, and begins none', async (t) => {
    const { other, client, prepare } = await open(t, { remember: false })
    const people = await prepare(byID)
    const ask = () => Promise.allSettled(['1', '2', '3'].map(people))
    const areBusy = async () =>
      (await ask()).every((each) => each.status === 'rejected' && each.reason instanceof Busy)
    const rows = client.prepare('select * from people').iterate()
    rows.next()
    other.exec("delete from people where id = '1'")
    assert.ok(await areBusy())
    rows.return?.()
    client.exec("begin; update people set name = 'Nobody'")
    assert.ok(await areBusy())
    assert.equal(client.inTransaction, true)
    client.exec('rollback')
    assert.deepEqual(
      (await ask()).map((each) => each.status === 'fulfilled' && each.value),
      [undefined, 'Grace', 'Edith'],
    )
  })

  test('remembers no row as it was before a commit that came between two rows of one turn', async (t) => {
    for (let when = 1; when <= 5; when += 1) {
      const { other, client, prepare } = await open(t)
      const people = await prepare(byID)
      const names = await prepare(byName)
      // Somebody who is remembered stands among those who are not.
      const ask = () =>
        Promise.all([names('Ada'), people('1'), names('Grace'), people('3'), people('2'), people('1')])
      await people('3')
      await people('3')
      let left = when
      const change = () => {
        left -= 1
        if (left === 0) other.exec("update people set name = 'changed'")
      }
      const prototype = Object.getPrototypeOf(client.prepare(byID.sql))
      const { get } = prototype
      const { hasChanged } = WalIndex.prototype
      const reads = t.mock.method(prototype, 'get', function (this: unknown, ...values: unknown[]) {
        const row = Reflect.apply(get, this, values)
        change()
        return row
      })
      const looks = t.mock.method(WalIndex.prototype, 'hasChanged', function (this: WalIndex) {
        const answer = hasChanged.call(this)
        change()
        return answer
      })
      await ask()
      reads.mock.restore()
      looks.mock.restore()
      assert.ok(left <= 0, `${when} is too late`)
      const now = ['Ada', 'changed', 'Grace', 'changed', 'changed', 'changed']
      assert.deepEqual(await ask(), now, `a commit behind read or look ${when}`)
    }
  })

  test('is nobody any more for all who ask in a turn, when the connection is closed', async (t) => {
    const { orm, prepare } = await open(t)
    const people = await prepare(byID)
    const ask = () => Promise.allSettled(['1', '2', '1', '2'].map(people))
    for (let i = 0; i < 3; i += 1) await ask()
    const asked = ask()
    await orm.close()
    for (const { status } of await asked) assert.equal(status, 'rejected')
    for (const { status } of await ask()) assert.equal(status, 'rejected')
  })

  test('sees in each turn what was committed before it, by whichever connection', async (t) => {
    for (const remember of [true, false]) {
      const { other, client, prepare } = await open(t, { remember })
      const people = await prepare(byID)
      for (let round = 0; round < 500; round += 1) {
        const writer = round % 2 ? other : client
        writer.exec(`update people set name = 'n${round}' where id <> '2'`)
        const all = ['1', '2', '3', '1']
        assert.deepEqual(await Promise.all(all.map(people)), [`n${round}`, 'Grace', `n${round}`, `n${round}`])
      }
    }
  })
})
