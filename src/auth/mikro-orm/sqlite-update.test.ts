import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import { MikroORM, SqliteDriver } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { randomNumbers } from '../testing/random.ts'
import { recordStatements } from '../testing/record-statements.ts'
import { rowOf } from '../testing/row-of.ts'
import { prepareRead } from './prepared-read.ts'
import type { SqliteClient } from './sqlite-client.ts'
import { knownCommitsOf } from './sqlite-commits.ts'
import { updateSqlite } from './sqlite-update.ts'

const people = 'create table people (id text primary key, name text, seen_at integer, boss text)'
const rows = "insert into people values ('1', 'Ada', 1, null), ('2', 'Grace', 2, '1'), ('3', 'Edith', 3, '1')"
const ids = ['1', '2', '3']
// Somebody, and whom they belong to.
const select = `select e.id, e.name, e.seen_at, o.id, o.name from people as e
  left join people as o on o.id = e.boss where e.id = ?`
const keys = [
  { table: 'people', key: 'id', column: 0 },
  { table: 'PEOPLE', key: 'id', column: 3 },
]

const PersonSchema = defineEntity({
  name: 'Person',
  tableName: 'people',
  properties: { id: p.string().primary(), name: p.string(), seenAt: p.integer() },
})
class Person extends PersonSchema.class {}
PersonSchema.setClass(Person)

/** A database with three people, all of whom a prepared read remembers, and another connection to it. */
async function open(t: TestContext, schema = `${people}; ${rows}`) {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-update-'))
  const path = join(folder, 'people.sqlite')
  const other = new Database(path)
  other.pragma('journal_mode = wal')
  other.exec(schema)
  const orm = await MikroORM.init({ dbName: path, driver: SqliteDriver, entities: [Person] })
  t.after(async () => {
    await orm.close(true)
    other.close()
    await rm(folder, { recursive: true })
  })
  const client: Database.Database = await orm.em.getConnection().getNativeClient()
  const read = (await prepareRead(orm, { sql: select, keys })) ?? assert.fail('Nothing is prepared.')
  const truth = other.prepare(select).raw()
  const assertTrue = async (when?: string) => {
    for (const id of ids) assert.deepEqual(await rowOf(read, id), truth.get(id), when)
  }
  const all = await recordStatements(t, orm)
  /** How many had to be read, to be told everybody as they are. */
  const reads = async (when?: string) => {
    all.splice(0)
    await assertTrue(when)
    return all.filter((each) => each === select).length
  }
  const update = (id: string, change: object) =>
    updateSqlite(orm.em.fork(), client as unknown as SqliteClient, { model: Person, where: { id }, change })
  for (let i = 0; i < 4; i += 1) await assertTrue()
  assert.equal(await reads(), 0)
  return { path, orm, client, other, read, assertTrue, reads, update }
}

function commitsOf(client: unknown) {
  return knownCommitsOf(client as SqliteClient) ?? assert.fail('Nothing is remembered.')
}

describe('an update of rows', () => {
  test('has nobody read again but those that it changes', async (t) => {
    const { reads, update } = await open(t)
    await update('3', { seenAt: 9 })
    assert.equal(await reads(), 1)
    await update('nobody', { seenAt: 9 })
    // As they are already: nothing is written.
    await update('2', { seenAt: 2 })
    assert.equal(await reads(), 0)
  })

  test('has everybody read again who belongs to one that it changes', async (t) => {
    const { reads, update } = await open(t)
    await update('1', { name: 'Augusta' })
    assert.equal(await reads(), 3)
  })

  const ofName = people
    .replace('name text', 'name text unique')
    .replace('boss text', 'boss text references people (name) on update cascade')
  for (const { what, schema, id, change } of [
    {
      what: 'a trigger',
      schema: `${people}; ${rows}; create trigger follow after update on people when new.id = '3'
        begin update people set name = 'Edie' where id = '2'; end`,
      id: '3',
      change: { seenAt: 9 },
    },
    {
      what: 'a foreign key',
      schema: `${ofName}; ${rows.replaceAll(", '1')", ", 'Ada')")}`,
      id: '1',
      change: { name: 'Augusta' },
    },
    {
      what: 'a constraint that has others deleted',
      schema: `${people.replace('seen_at integer', 'seen_at integer unique on conflict replace')}; ${rows}`,
      id: '3',
      change: { seenAt: 2 },
    },
  ])
    test(`has everybody read again where ${what} may have changed others`, async (t) => {
      const { reads, update } = await open(t, schema)
      await update(id, change)
      assert.equal(await reads(), 3)
    })

  test('has everybody read again where another connection has written just before it, or just after', async (t) => {
    const { client, other, reads } = await open(t)
    const commits = commitsOf(client)
    const write = (name: string) => other.exec(`update people set name = '${name}' where id = '2'`)
    for (const [i, moments] of [['before'], ['after'], ['before', 'after'], []].entries()) {
      for (let again = 0; again < 3; again += 1) await reads()
      commits.run('people', 'id', () => {
        if (moments.includes('before')) write(`before ${i}`)
        client.exec(`update people set seen_at = ${100 + i} where id = '3'`)
        if (moments.includes('after')) write(`after ${i}`)
        return ['3']
      })
      assert.equal(await reads(moments.join()), moments.length > 0 ? 3 : 1)
      // Nothing is written by us, and something by somebody else.
      for (let again = 0; again < 3; again += 1) await reads()
      commits.run('people', 'id', () => {
        write(`only ${i}`)
        return ['3']
      })
      assert.equal(await reads(), 3)
    }
  })

  test('has everybody read again if it fails, or what came of it cannot be found out', async (t) => {
    const { client, other, reads, update } = await open(t)
    const commits = commitsOf(client)
    other.exec("create trigger broken before update on people begin select raise(abort, 'no'); end")
    await reads()
    await assert.rejects(update('1', { seenAt: 9 }), /no/)
    other.exec('drop trigger broken')
    for (let again = 0; again < 3; again += 1) await reads()
    const fail = () => {
      client.exec("update people set name = 'Nobody'")
      throw new Error('too late')
    }
    assert.throws(() => commits.run('people', 'id', fail), /too late/)
    assert.equal(await reads(), 3)
    t.mock.method(client, 'pragma', (name: string) => {
      if (name === 'data_version' && client.prepare('select seen_at from people').pluck().get() === 9) fail()
      return 1
    })
    for (let again = 0; again < 3; again += 1) await reads()
    const change = () => {
      client.exec('update people set seen_at = 9')
      return ['1']
    }
    assert.throws(() => commits.run('people', 'id', change), /too late/)
    assert.equal(await reads(), 3)
  })

  test('waits for a transaction of its own connection, and is no part of it', async (t) => {
    const { orm, client, reads, update } = await open(t)
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const transaction = orm.em.fork().transactional(async (em) => {
      await em.nativeUpdate(Person, { id: '2' }, { name: 'Nobody' })
      begun.resolve()
      await end.promise
    })
    await begun.promise
    const updated = update('3', { seenAt: 9 })
    end.reject(new Error('taken back'))
    await assert.rejects(transaction, /taken back/)
    await updated
    assert.deepEqual(client.prepare('select name, seen_at from people').raw().all().slice(1), [
      ['Grace', 2],
      ['Edith', 9],
    ])
    assert.equal(await reads(), 3)
  })

  test('waits for a query of its own connection that is streamed', async (t) => {
    const { orm, other, reads, update } = await open(t)
    const stream = orm.em.fork().stream(Person, { orderBy: { id: 'asc' } })
    await stream.next()
    other.exec("update people set name = 'Augusta' where id = '1'")
    const updated = update('3', { seenAt: 9 })
    await stream.return?.(undefined)
    await updated
    assert.equal(await reads(), 3)
    assert.equal(other.prepare("select seen_at from people where id = '3'").pluck().get(), 9)
  })

  test('is right in 3,000 rounds of writes, checkpoints and vacuums by two connections (long)', async (t) => {
    const { orm, other, assertTrue, update } = await open(t)
    const random = randomNumbers()
    for (let round = 0; round < 3000; round += 1) {
      const id = String(1 + random(3))
      const sql = [
        `insert or replace into people values ('${id}', 'n${round}', 0, '${1 + random(3)}')`,
        `update people set name = 'u${round}' where id = '${id}'`,
        `delete from people where id = '${id}'`,
        'pragma wal_checkpoint(restart)',
        'pragma wal_checkpoint(truncate)',
        ...(round % 50 === 0 ? ['vacuum'] : []),
      ]
      const write = sql[random(12)]
      if (!write) await update(id, { seenAt: random(2), name: `s${random(2)}` })
      else if (random(2)) other.exec(write)
      else await orm.em.getConnection().execute(write)
      await assertTrue(`round ${round}: ${write ?? 'update'}`)
    }
  })

  test('hides nothing that another process wrote meanwhile (long)', async (t) => {
    const { path, read, update, assertTrue } = await open(t)
    const writer = fork(join(import.meta.dirname, '../testing/writer.ts'), [path])
    t.after(() => writer.kill())
    await once(writer, 'message')
    for (let round = 0; round < 500; round += 1) {
      let isWritten = false
      writer.send(`n${round}`)
      const written = once(writer, 'message').then(() => {
        isWritten = true
      })
      while (!isWritten) {
        await update('3', { seenAt: round + Math.random() })
        for (const id of ids) await rowOf(read, id)
        await turn()
      }
      await written
      await assertTrue(`round ${round}`)
    }
  })
})
