import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { MikroORM, SqliteDriver } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { randomNumbers } from '../testing/random.ts'
import { recordStatements } from '../testing/record-statements.ts'
import { rowOf } from '../testing/row-of.ts'
import type { Row } from './answer.ts'
import { Commits } from './commits.ts'
import { Busy, type PreparedRead, prepareRead } from './prepared-read.ts'
import { RowMemory } from './row-memory.ts'

const select = 'select name, id from people where id = ?'
const statement = { sql: select, keys: [{ table: 'people', key: 'id', column: 1 }] }

/** A database with somebody in it, and a statement that is prepared for it. */
async function open(t: TestContext, journal = 'wal') {
  const folder = await mkdtemp(join(tmpdir(), 'row-memory-'))
  const path = join(folder, 'people.sqlite')
  const other = new Database(path)
  other.pragma(`journal_mode = ${journal}`)
  other.exec("create table people (id text primary key, name text); insert into people values ('1', 'Ada')")
  const openBy = (dbName: string) =>
    MikroORM.init({
      dbName,
      driver: SqliteDriver,
      entities: [],
      discovery: { warnWhenNoEntities: false },
    })
  const orm = await openBy(path)
  t.after(async () => {
    await orm.close(true)
    other.close()
    await rm(folder, { recursive: true })
  })
  const execute = (sql: string) => orm.em.getConnection().execute(sql)
  const prepare = async (remember?: boolean) =>
    (await prepareRead(orm, statement, { remember })) ?? assert.fail()
  const statements = async () => {
    const all = await recordStatements(t, orm)
    return () => all.splice(0).filter((each) => each === select).length
  }
  return { path, openBy, orm, other, execute, prepare, statements }
}

async function name(read: PreparedRead, id = '1'): Promise<unknown> {
  return (await rowOf(read, id))?.[0]
}

describe('a prepared read', () => {
  test('reads a row once, and then not until something is committed by whichever connection', async (t) => {
    const { other, execute, prepare, statements } = await open(t)
    const read = await prepare()
    const asked = await statements()
    for (let i = 0; i < 5; i += 1) assert.equal(await name(read), 'Ada')
    // Once more, since nobody knew what the head of the log was when it was read.
    assert.equal(asked(), 2)
    other.exec("update people set name = 'Augusta'")
    for (let i = 0; i < 5; i += 1) assert.equal(await name(read), 'Augusta')
    assert.equal(asked(), 1)
    await execute("update people set name = 'Ada King'")
    for (let i = 0; i < 5; i += 1) assert.equal(await name(read), 'Ada King')
    assert.equal(asked(), 1)
    other.exec('delete from people')
    for (let i = 0; i < 5; i += 1) assert.equal(await name(read), undefined)
    assert.equal(asked(), 5, 'nobody is not remembered')
  })

  test('remembers nothing where it is told not to, or cannot tell exactly', async (t) => {
    for (const { journal, remember } of [
      { journal: 'wal', remember: false },
      { journal: 'delete', remember: true },
    ]) {
      const { other, prepare, statements } = await open(t, journal)
      const read = await prepare(remember)
      const asked = await statements()
      for (let i = 0; i < 5; i += 1) assert.equal(await name(read), 'Ada')
      assert.equal(asked(), 5)
      other.exec("update people set name = 'Augusta'")
      assert.equal(await name(read), 'Augusta')
    }
  })

  for (const [what, setUp] of Object.entries({
    'a view': (db) => db.exec('create view seen as select * from people where random() is not null'),
    'a view of that name in other letters': (db) => db.exec('create view SEEN as select * from people'),
    'a view for this connection alone': (db) => db.exec('create temp view seen as select * from people'),
    'a table for this connection alone': (db) => db.exec('create temp table seen as select * from people'),
    'such a table in the place of another': (db) =>
      db.exec('create table seen as select * from people; create temp table Seen as select * from people'),
    'a table of a database that is attached': (db, path) =>
      db.exec(`attach '${path}-attached' as far; create table far.seen as select * from people`),
    'a table without rows of its own': (db) =>
      db.exec('create virtual table seen using fts5(id, name); insert into seen select * from people'),
  } satisfies Record<string, (db: Database.Database, path: string) => unknown>))
    test(`remembers nothing of ${what}: what it shows may change, and nothing of that be in the log`, async (t) => {
      const { path, orm } = await open(t)
      const client = (await orm.em.getConnection().getNativeClient()) as Database.Database
      setUp(client, path)
      const sql = 'select name, id from seen where id = ?'
      const keys = [{ table: 'seen', key: 'id', column: 1 }]
      const read = (await prepareRead(orm, { sql, keys })) ?? assert.fail()
      const all = await recordStatements(t, orm)
      for (let i = 0; i < 5; i += 1) assert.equal(await name(read), 'Ada')
      assert.equal(all.filter((each) => each === sql).length, 5)
    })

  test('tells nothing while the connection is in the past, because a query is open, but what it knows to be so still', async (t) => {
    const { orm, other, prepare } = await open(t)
    other.exec("insert into people values ('2', 'Grace')")
    const read = await prepare()
    for (let i = 0; i < 5; i += 1) assert.equal(await name(read), 'Ada')
    const client = (await orm.em.getConnection().getNativeClient()) as Database.Database
    const rows = client.prepare('select * from people').iterate()
    rows.next()
    other.exec("delete from people where id = '1'")
    // SQLite itself says as long as that is open, to whoever asks by this connection, that she is there.
    for (let i = 0; i < 5; i += 1) await assert.rejects(name(read), Busy)
    rows.return?.()
    assert.equal(await name(read), undefined)
  })

  test('is of the database that a symbolic link leads to, whatever lies beside the link', async (t) => {
    const { path, other, openBy } = await open(t)
    const link = `${path}-link`
    await symlink(path, link)
    await copyFile(`${path}-shm`, `${link}-shm`)
    const orm = await openBy(link)
    t.after(() => orm.close(true))
    const read = (await prepareRead(orm, statement)) ?? assert.fail()
    for (let i = 0; i < 5; i += 1) assert.equal(await name(read), 'Ada')
    other.exec("update people set name = 'Augusta'")
    assert.equal(await name(read), 'Augusta')
  })

  test('remembers nothing by an index that was put into the place of the one that SQLite looks at', async (t) => {
    const { path, prepare, execute, statements } = await open(t)
    await execute(select.replace('?', "'1'"))
    await rename(`${path}-shm`, `${path}-shm-before`)
    await copyFile(`${path}-shm-before`, `${path}-shm`)
    const read = await prepare()
    const asked = await statements()
    for (let i = 0; i < 5; i += 1) assert.equal(await name(read), 'Ada')
    assert.equal(asked(), 5)
    await execute("update people set name = 'Augusta'")
    assert.equal(await name(read), 'Augusta')
  })

  test('is nothing any more when the connection is closed, and reads anew when it is open again', async (t) => {
    const { other, orm, prepare } = await open(t)
    const read = await prepare()
    for (let i = 0; i < 5; i += 1) assert.equal(await name(read), 'Ada')
    await orm.close()
    other.exec('delete from people')
    await assert.rejects(name(read), /closed/)
    await orm.connect()
    await assert.rejects(name(read))
    assert.equal(await name(await prepare()), undefined)
  })

  test('shows nothing of what is not committed, or was taken back', async (t) => {
    const { other, prepare } = await open(t)
    const read = await prepare()
    for (let i = 0; i < 5; i += 1) assert.equal(await name(read), 'Ada')
    other.exec("begin; update people set name = 'Nobody'")
    assert.equal(await name(read), 'Ada')
    other.exec('rollback')
    assert.equal(await name(read), 'Ada')
  })

  test('reads nothing in a transaction of its own connection, and remembers what was committed before', async (t) => {
    const { orm, prepare } = await open(t)
    const read = await prepare()
    for (let i = 0; i < 5; i += 1) assert.equal(await name(read), 'Ada')
    await orm.em
      .transactional(async (em) => {
        await em
          .getConnection()
          .execute("update people set name = 'Nobody'", [], 'run', em.getTransactionContext())
        assert.equal(await name(read), 'Ada')
        await assert.rejects(name(read, '2'), /transaction/)
        throw new Error('taken back')
      })
      .catch((error) => assert.equal(error.message, 'taken back'))
    assert.equal(await name(read), 'Ada')
    assert.equal(await name(read, '2'), undefined)
  })

  test('is right in 2,000 rounds of writes, checkpoints and vacuums by two connections (long)', async (t) => {
    const { other, execute, prepare } = await open(t)
    const read = await prepare()
    const truth = other.prepare(select).pluck()
    const random = randomNumbers()
    for (let round = 0; round < 2000; round += 1) {
      const id = String(random(5))
      const write = [
        `insert or replace into people values ('${id}', 'n${round}')`,
        `delete from people where id = '${id}'`,
        `update people set name = 'u${round}' where id = '${id}'`,
        'pragma wal_checkpoint(truncate)',
        'pragma wal_checkpoint(restart)',
        ...(round % 50 === 0 ? ['vacuum'] : []),
      ]
      const sql = write[random(write.length)] ?? ''
      if (random(2)) other.exec(sql)
      else await execute(sql)
      for (let each = 0; each < 5; each += 1)
        assert.equal(await name(read, String(each)), truth.get(String(each)), `round ${round}: ${sql}`)
    }
  })

  test('sees what another process wrote as soon as that says so', async (t) => {
    const { path, prepare } = await open(t)
    const read = await prepare()
    const writer = fork(join(import.meta.dirname, '../testing/writer.ts'), [path])
    t.after(() => writer.kill())
    await once(writer, 'message')
    for (let round = 0; round < 500; round += 1) {
      await name(read)
      writer.send(`n${round}`)
      await once(writer, 'message')
      assert.equal(await name(read), `n${round}`)
    }
  })
})

/** A memory of rows whose first column is their key, of a database that says whether it has changed. */
function memoryOf(hasChanged: () => boolean, most?: number) {
  const commits = new Commits({ hasChanged, others: () => 0 })
  const keys = [{ table: 'people', key: 'id', column: 0 }]
  return new RowMemory({ commits, keys, ...(most && { most }) })
}

/** The same, of one that says so once for each change. */
function changingMemory() {
  let hasChanged = false
  const memory = memoryOf(() => {
    const said = hasChanged
    hasChanged = false
    return said
  })
  const change = () => {
    hasChanged = true
  }
  return { memory, change }
}

describe('RowMemory', () => {
  test('holds so many rows, and then of values that are asked for twice in a row', () => {
    const memory = memoryOf(() => false, 16)
    let reads = 0
    const row = (id: number | string): Row | undefined =>
      memory.row(id, () => {
        reads += 1
        return [id]
      })
    for (let round = 0; round < 4; round += 1)
      for (let id = 160; id < 176; id += 1) assert.deepEqual(row(id), [id])
    assert.equal(reads, 16)
    for (let id = 176; id < 1776; id += 1) assert.deepEqual(row(id), [id])
    assert.equal(reads, 1616)
    row(175)
    assert.equal(reads, 1616, 'whoever comes once takes the place of nobody')
    row(191)
    row(175)
    row(191)
    assert.equal(reads, 1618, 'nor does whoever comes in turns with it')
    row(191)
    row(191)
    assert.equal(reads, 1619)
    row(175)
    assert.equal(reads, 1620)
    assert.deepEqual(row('175'), ['175'], 'a text is no number')
  })

  test('has room for those that share a place, as long as there is some beside it', () => {
    let changed = false
    const memory = memoryOf(() => changed, 16)
    let reads = 0
    const row = (id: number) =>
      memory.row(id, () => {
        reads += 1
        return [id]
      })
    const shared = Array.from({ length: 8 }, (_, i) => 3 + 16 * i)
    const askTwice = (ids: number[]) => {
      for (const id of ids) for (let i = 0; i < 2; i += 1) row(id)
    }
    askTwice(shared)
    reads = 0
    askTwice(shared)
    assert.equal(reads, 0)
    // What was read before a change is in nobody's way.
    changed = true
    memory.row(3, () => undefined)
    changed = false
    const others = shared.map((id) => id + 1)
    askTwice(others)
    reads = 0
    for (const id of others) row(id)
    assert.equal(reads, 0)
    for (const id of others) assert.deepEqual(row(id), [id])
  })

  test('finds a place for whatever is asked for', () => {
    const memory = memoryOf(() => false)
    for (const value of ['', 'a', 'é'.repeat(50), -7, 0.5, Number.MAX_SAFE_INTEGER, Number.NaN])
      for (let i = 0; i < 3; i += 1)
        assert.deepEqual(
          memory.row(value, () => [value]),
          [value],
        )
  })

  for (const { share, amount, inARow, least } of [
    { share: 'a tenth', amount: 2_000, inARow: 1, least: 1_700 },
    // Those that share a place take turns to ask for it, until they come twice in a row.
    { share: 'half', amount: 10_000, inARow: 2, least: 9_700 },
  ])
    test(`keeps nearly all of ${share} as many as it holds, in whatever order and form they come`, () => {
      const forms = [
        (i: number) => i,
        (i: number) => `${i}`,
        (i: number) => `0190a6e5-7c9b-7000-8000-${i.toString(16).padStart(12, '0')}`,
        (i: number) => hash('sha256', `${i}`, 'base64url'),
      ]
      for (const form of forms) {
        const memory = memoryOf(() => false, 20_000)
        for (let round = 0; round < 2; round += 1)
          for (let i = 0; i < amount; i += 1)
            for (let j = 0; j < inARow; j += 1) memory.row(form(i), () => [i])
        let kept = 0
        for (let i = 0; i < amount; i += 1) {
          memory.row(form(i), () => {
            kept -= 1
            return undefined
          })
          kept += 1
        }
        assert.ok(kept > least, `${form(1)}: ${kept}`)
      }
    })

  test('looks for changes only where there is something to lose: for a row that it has', () => {
    let looks = 0
    const hasChanged = () => {
      looks += 1
      return false
    }
    const memory = memoryOf(hasChanged)
    for (let id = 0; id < 1000; id += 1) memory.row(`token ${id}`, () => [id])
    assert.equal(looks, 0)
    for (let look = 1; look < 4; look += 1) {
      memory.row('token 1', () => [1])
      assert.equal(looks, look)
    }
  })

  test('keeps nothing that was read before a change, and what was read since', () => {
    const { memory, change } = changingMemory()
    let truth = 1
    const row = () => memory.row('a', () => [truth])?.[0]
    assert.equal(row(), 1)
    truth = 2
    assert.equal(row(), 1, 'nobody said that anything changed')
    for (truth of [3, 4]) {
      change()
      assert.equal(row(), truth)
    }
    truth = 5
    assert.equal(row(), 4, 'nor since it was read again')
  })

  test('rests where all is lost before anybody comes again, and works again when it is not', () => {
    let looks = 0
    let asks = 0
    let isQuiet = false
    const hasChanged = () => {
      looks += 1
      return !isQuiet
    }
    const memory = memoryOf(hasChanged)
    let reads = 0
    const ask = (value: number) => {
      asks += 1
      memory.row(value, () => {
        reads += 1
        return [value]
      })
    }
    for (let i = 0; i < 200_000; i += 1) ask(i % 100)
    assert.ok(looks < asks / 5, `${looks} looks`)
    assert.equal(reads, asks)
    isQuiet = true
    for (let i = 0; i < 20_000; i += 1) ask(i % 100)
    reads = 0
    for (let i = 0; i < 1_000; i += 1) ask(i % 100)
    assert.equal(reads, 0)
  })

  test('does not rest because strangers come', () => {
    const { memory, change } = changingMemory()
    let reads = 0
    const ask = (value: number) =>
      memory.row(value, () => {
        reads += 1
        return [value]
      })
    for (let round = 0; round < 10; round += 1) {
      for (let i = 0; i < 3_000; i += 1) {
        ask(1 + (i % 100))
        for (let stranger = 0; stranger < 5; stranger += 1) memory.row(`${i} ${stranger}`, () => undefined)
      }
      change()
    }
    assert.equal(reads, 10 * 100)
  })

  test('holds no more than a site has in its rows, and as much again when they are lost', () => {
    let changed = false
    const memory = memoryOf(() => changed, 16)
    const isKept = (value: number, length: number) => {
      let reads = 0
      for (let i = 0; i < 3; i += 1) {
        memory.row(value, () => {
          reads += 1
          return ['x'.repeat(length / 2), Buffer.alloc(length / 2), null, 1]
        })
        changed = false
      }
      return reads < 3
    }
    for (let time = 0; time < 2; time += 1) {
      assert.ok(isKept(1, 6_000))
      assert.ok(!isKept(2, 3_000))
      assert.ok(isKept(3, 2_000))
      changed = true
    }
    assert.ok(!isKept(4, 10_000))
  })
})
