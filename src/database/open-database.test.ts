import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { MikroORM } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { LookUp } from '#auth/mikro-orm'
import { preparedRequestTo } from '../auth/testing/request-to.ts'
import { migrations } from '../migrations/index.ts'
import { schema } from '../schema.ts'
import { sql } from '../testing/database.ts'
import { User } from '../users/user.ts'
import { DatabaseError } from './database-error.ts'
import { openDatabase } from './open-database.ts'

describe('openDatabase', () => {
  test('creates the file, its folders and the tables, and opens the database again', async (t) => {
    const path = join(await folder(t), 'a', 'b', 'site.sqlite')
    const first = await open(t, path)
    const tables = await sql({ orm: first }, "select name from sqlite_master where type = 'table'")
    for (const table of ['users', 'user_tokens', 'admins', 'sessions'])
      assert.ok(
        tables.some(({ name }) => name === table),
        table,
      )
    await first.close()
    const second = await open(t, path)
    const done = await sql({ orm: second }, 'select name from mikro_orm_migrations order by id')
    assert.deepEqual(
      done.map(({ name }) => name),
      migrations.map(({ name }) => name),
    )
  })

  test('N3 enables WAL and foreign keys on SQLite', async (t) => {
    const orm = await open(t, join(await folder(t), 'site.sqlite'))
    assert.deepEqual(await sql({ orm }, 'pragma journal_mode'), [{ journal_mode: 'wal' }])
    assert.deepEqual(await sql({ orm }, 'pragma foreign_keys'), [{ foreign_keys: 1 }])
  })

  test('E9 opens a database whose look-ups find no deleted user after a reconnect', async (t) => {
    const path = join(await folder(t), 'site.sqlite')
    const orm = await open(t, path)
    const email = 'ada@example.com'
    const em = orm.em.fork()
    await em.persist(em.create(User, { name: 'Ada', email, emailKey: email, passwordHash: 'none' })).flush()
    const users = new LookUp({ model: User, property: 'email' })
    const find = async () => (await users.find(preparedRequestTo(orm), email))?.name
    for (let i = 0; i < 3; i += 1) assert.equal(await find(), 'Ada')
    await orm.close()
    const other = new Database(path)
    other.exec('delete from users')
    other.close()
    await orm.connect()
    assert.equal(await find(), undefined)
  })

  test('runs each migration once when many calls open a new file', async (t) => {
    const path = join(await folder(t), 'site.sqlite')
    const all = await Promise.all(Array.from({ length: 8 }, () => open(t, path)))
    const [orm = assert.fail()] = all
    const done = await sql({ orm }, 'select name from mikro_orm_migrations')
    assert.equal(done.length, migrations.length)
  })

  test('waits while another connection migrates', async (t) => {
    const path = join(await folder(t), 'site.sqlite')
    const other = new Database(path)
    other.exec('begin exclusive')
    let isOpen = false
    const opening = open(t, path).then(() => {
      isOpen = true
    })
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
    assert.equal(isOpen, false)
    other.exec('commit')
    other.close()
    await opening
  })

  test('N1 rejects a newer database, and names the unknown migration', async (t) => {
    const path = join(await folder(t), 'site.sqlite')
    const orm = await open(t, path)
    await sql({ orm }, "insert into mikro_orm_migrations (name, executed_at) values ('29990101-future', 0)")
    await assert.rejects(open(t, path), (error) => {
      assert.ok(error instanceof DatabaseError)
      assert.equal(
        error.message,
        `The database ${path} is newer than this program: it has the migration 29990101-future. Start a newer version.`,
      )
      return true
    })
  })

  test('N1 rejects a folder, a text file and an impossible path with a code and a remedy', async (t) => {
    const here = await folder(t)
    await mkdir(join(here, 'folder.sqlite'))
    await writeFile(join(here, 'text.sqlite'), 'no database '.repeat(1000))
    await writeFile(join(here, 'file'), '')
    for (const name of ['folder.sqlite', 'text.sqlite', 'file/site.sqlite']) {
      const path = join(here, name)
      await assert.rejects(open(t, path), (error) => {
        assert.ok(error instanceof DatabaseError)
        assert.equal(
          error.message.replace(/ [A-Z_]+\. [A-Z][^\n]+\.$/, ''),
          `The database ${path} cannot be used:`,
        )
        return true
      })
    }
  })
})

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
  t.after(() => rm(path, { recursive: true }))
  return path
}

async function open(t: TestContext, path: string): Promise<MikroORM> {
  const orm = await openDatabase(`sqlite:${path}`, schema)
  t.after(() => orm.close())
  return orm
}
