import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { defineEntity, p, Type } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { openORM, openORMWith } from '../../testing/open-orm.ts'
import { preparedRequestTo } from '../../testing/request-to.ts'
import { entityManager } from '../databases.ts'
import { KeyLookUp } from '../key-look-up.ts'
import { LookUp } from '../look-up.ts'

/** A string that is stored in reverse. */
class Backwards extends Type<string, string> {
  override convertToDatabaseValue = (value: string) => [...value].reverse().join('')
  override convertToJSValue = (value: string) => [...value].reverse().join('')
}

/** A user model with columns of several types, and its token model. */
function models() {
  const UserSchema = defineEntity({
    name: 'User',
    properties: {
      id: p.uuid().primary(),
      name: p.string(),
      isKind: p.boolean(),
      bornAt: p.datetime(),
      leftAt: p.datetime().nullable(),
      likes: p.json<string[]>(),
      secret: p.string().hidden(),
      motto: p.type(Backwards),
      visits: p.bigint('number'),
      // A property of the class without a column.
      guess: p.string().persist(false).nullable(),
    },
    filters: { here: { name: 'here', cond: { leftAt: null }, default: true } },
  })
  class User extends UserSchema.class {
    initial(): string {
      return this.name.slice(0, 1)
    }
  }
  UserSchema.setClass(User)
  const TokenSchema = defineEntity({
    name: 'Token',
    properties: { id: p.uuid().primary(), value: p.string().unique(), user: () => p.manyToOne(User) },
  })
  class Token extends TokenSchema.class {}
  TokenSchema.setClass(Token)
  return { User, Token }
}

const ada = {
  ...{ id: '00000000-0000-7000-8000-000000000001', name: 'Ada', isKind: true, leftAt: null },
  ...{ bornAt: new Date('1815-12-10T08:00:00Z'), likes: ['engines'], secret: 'x', motto: 'forth', visits: 7 },
}
const token = { id: '00000000-0000-7000-8000-000000000002', value: 'value', user: ada.id }

async function open(t: TestContext) {
  const { User, Token } = models()
  const { orm, statements } = await openORM(t, User, Token)
  await orm.em.fork().insert(User, ada)
  await orm.em.fork().insert(Token, token)
  const tokens = new LookUp({ model: Token, property: 'value', relation: 'user' })
  const users = new KeyLookUp(User)
  const ctx = preparedRequestTo(orm)
  // The first look-ups prepare the statements.
  await tokens.find(ctx, 'value')
  await users.find(ctx, ada.id)
  statements.splice(0)
  return { orm, statements, User, Token, tokens, users }
}

/** Whether `em.findOne` sent the statement. A prepared look-up has a placeholder for the key. */
const isOfFindOne = (statement: string) => /^select `[a-z]0`/.test(statement) && !/ = \? /.test(statement)

describe('a prepared look-up', () => {
  test('P1 returns the same date as MikroORM for a date stored as text if the local time zone is not UTC', async (t) => {
    const Schema = defineEntity({
      name: 'Dated',
      properties: { id: p.string().primary(), at: p.datetime() },
    })
    class Dated extends Schema.class {}
    Schema.setClass(Dated)
    const { orm } = await openORM(t, Dated)
    const zone = process.env.TZ
    t.after(() => {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    })
    process.env.TZ = 'America/Los_Angeles'
    const dated = new KeyLookUp(Dated)
    for (const at of [
      '2026-11-21 12:00:00',
      '2026-11-21T12:00:00Z',
      '2026-11-21 12:00:00+02:00',
      '1795262400000',
    ]) {
      await orm.em.getConnection().execute("insert or replace into dated values ('one', ?)", [at])
      const expected = await orm.em.fork().findOneOrFail(Dated, 'one')
      const found = (await dated.find(preparedRequestTo(orm), 'one')) ?? assert.fail()
      assert.deepEqual(found.at, expected.at, at)
    }
  })

  test('returns undefined for a missing row and for a row that a filter excludes', async (t) => {
    const { orm, User, tokens, users } = await open(t)
    assert.equal(await tokens.find(preparedRequestTo(orm), 'Value'), undefined)
    assert.equal(await users.find(preparedRequestTo(orm), token.id), undefined)
    assert.equal(await users.find(preparedRequestTo(orm), 'no UUID'), undefined)
    await orm.em.fork().nativeUpdate(User, ada.id, { leftAt: new Date() }, { filters: false })
    assert.equal(await tokens.find(preparedRequestTo(orm), 'value'), undefined)
    assert.equal(await users.find(preparedRequestTo(orm), ada.id), undefined)
  })

  test('queries a row once for two look-ups of a request, and again after the entity manager is cleared', async (t) => {
    const { orm, statements, tokens, users } = await open(t)
    const ctx = preparedRequestTo(orm)
    const found = (await tokens.find(ctx, 'value')) ?? assert.fail()
    assert.equal(await users.find(ctx, ada.id), found.user)
    assert.equal(statements.length, 1)
    assert.equal(await users.find(ctx, token.id), undefined, 'No user has the key of the token.')
    assert.equal(statements.length, 2)
    await entityManager(ctx).nativeUpdate(found.user.constructor as never, ada.id, {
      name: 'Ada King',
    } as never)
    entityManager(ctx).clear()
    statements.splice(0)
    assert.equal((await users.find(ctx, ada.id))?.name, 'Ada King')
    assert.equal(statements.length, 1)
    await users.find(preparedRequestTo(orm), ada.id)
    assert.equal(statements.length, 2)
  })

  test('returns entities, and the entity manager of the request saves changes to them', async (t) => {
    const { orm, statements, User, Token, tokens } = await open(t)
    const ctx = preparedRequestTo(orm)
    const found = (await tokens.find(ctx, 'value')) ?? assert.fail()
    found.user.name = 'Ada King'
    const em = entityManager(ctx)
    assert.equal(await em.findOne(User, ada.id), found.user)
    assert.equal(await em.findOne(Token, { id: token.id }), found)
    statements.splice(0)
    await em.flush()
    found.user.likes = ['engines', 'horses']
    await em.flush()
    await em.flush()
    assert.deepEqual(
      statements.filter((each) => each.startsWith('update')).map((each) => each.replace(/ = .*/, '')),
      ['update `user` set `name`', 'update `user` set `likes`'],
    )
    const { name, likes } = await orm.em.fork().findOneOrFail(User, ada.id)
    assert.deepEqual([name, likes], ['Ada King', ['engines', 'horses']])
    em.remove(found)
    await em.flush()
    assert.equal(await orm.em.fork().count(Token), 0)
  })

  test('accepts only a string or a number, because an object would be a query', async (t) => {
    const { orm, User, users } = await open(t)
    const byName = new LookUp({ model: User, property: 'name' })
    for (const wrong of [{}, { $ne: '' }, [ada.id], null, undefined, true] as never[]) {
      assert.equal(await users.find(preparedRequestTo(orm), wrong), undefined)
      await assert.rejects(byName.find(preparedRequestTo(orm), wrong), { code: 'ERR_AUTH_MISUSE' })
    }
  })

  test('reads the writes of another request, but not those of an open transaction', async (t) => {
    const { orm, User, users } = await open(t)
    await orm.em.fork().nativeUpdate(User, ada.id, { name: 'Augusta' })
    assert.equal((await users.find(preparedRequestTo(orm), ada.id))?.name, 'Augusta')
    let found: ReturnType<typeof users.find> | undefined
    const rolledBack = orm.em.fork().transactional(async (em) => {
      await em.nativeUpdate(User, ada.id, { name: 'Nobody' })
      found = users.find(preparedRequestTo(orm), ada.id)
      await new Promise(setImmediate)
      throw new Error('rollback')
    })
    await assert.rejects(rolledBack, /rollback/)
    assert.equal((await found)?.name, 'Augusta')
  })

  test('returns undefined for a user that another process deleted while a query is streamed', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'look-up-'))
    t.after(() => rm(folder, { recursive: true }))
    const { User, Token } = models()
    const options = { dbName: join(folder, 'users.sqlite'), entities: [User, Token] }
    const { orm, statements } = await openORMWith(t, options)
    const users = new LookUp({ model: User, property: 'name' })
    const find = async () => (await users.find(preparedRequestTo(orm), 'Ada'))?.name
    await orm.em.getConnection().execute('pragma journal_mode = wal')
    await orm.em.fork().insert(User, ada)
    assert.equal(await find(), 'Ada')
    const stream = orm.em.fork().stream(User)
    await stream.next()
    // Simulates another process.
    const other = new Database(options.dbName)
    other.exec('delete from user')
    other.close()
    const found = find()
    await new Promise(setImmediate)
    await stream.return?.(undefined)
    assert.equal(await found, undefined)
    await orm.em.fork().insert(User, ada)
    statements.splice(0)
    assert.equal(await find(), 'Ada')
    assert.ok(!statements.some(isOfFindOne), 'The prepared statement is still used.')
  })

  test('prepares one statement for concurrent requests, and prepares it again when it becomes invalid', async (t) => {
    const { orm, User } = await open(t)
    const users = new LookUp({ model: User, property: 'name' })
    const preparedQueries = async () => {
      const prepare = t.mock.method(await orm.em.getConnection().getNativeClient(), 'prepare')
      const found = await Promise.all(
        Array.from({ length: 20 }, () => users.find(preparedRequestTo(orm), 'Ada')),
      )
      for (const user of found) assert.equal(user?.id, ada.id)
      const prepared = prepare.mock.calls.map(({ arguments: [sql] }) => String(sql))
      prepare.mock.restore()
      return prepared.filter((sql) => /^select .* where .*`name` = \? /.test(sql))
    }
    assert.equal((await preparedQueries()).length, 1)
    assert.equal((await preparedQueries()).length, 0)
    await orm.reconnect()
    await orm.schema.create()
    await orm.em.fork().insert(User, ada)
    // These look-ups fail on the old statement, and use `em.findOne`.
    await preparedQueries()
    assert.equal((await preparedQueries()).length, 1)
    assert.equal((await preparedQueries()).length, 0)
  })
})
