import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { defineEntity, p, Type } from '@mikro-orm/sqlite'
import { openORM } from '../../testing/open-orm.ts'
import { preparedRequestTo } from '../../testing/request-to.ts'
import { databasesOf, entityManager } from '../databases.ts'
import { LookUp } from '../look-up.ts'

class LowerCase extends Type<string, string> {
  override convertToDatabaseValue = (value: string) => value.toLowerCase()
  override convertToJSValue = (value: string) => value.toLowerCase()
}

async function open(t: TestContext) {
  const UserSchema = defineEntity({
    name: 'User',
    properties: { id: p.string().primary(), name: p.string(), nick: p.type(LowerCase) },
  })
  class User extends UserSchema.class {}
  UserSchema.setClass(User)
  const TokenSchema = defineEntity({
    name: 'Token',
    properties: { id: p.string().primary(), user: () => p.manyToOne(User) },
  })
  class Token extends TokenSchema.class {}
  TokenSchema.setClass(Token)
  const NoteSchema = defineEntity({
    name: 'Note',
    properties: { id: p.integer().primary(), author: () => p.manyToOne(User) },
  })
  class Note extends NoteSchema.class {}
  NoteSchema.setClass(Note)
  const { orm, statements } = await openORM(t, User, Token, Note)
  await orm.em.fork().insert(User, { id: 'ada', name: 'Ada', nick: 'ada' })
  await orm.em.fork().insert(Token, { id: 'token', user: 'ada' })
  const ctx = preparedRequestTo(orm)
  const tokens = new LookUp({ model: Token, property: 'id', relation: 'user' })
  const token = (await tokens.find(ctx, 'token')) ?? assert.fail()
  assert.equal(databasesOf(ctx).hasManager(), false, 'The look-up used `em.findOne`.')
  statements.splice(0)
  return { orm, statements, User, Token, Note, tokens, ctx, token }
}

describe('an entity that a prepared statement has loaded', () => {
  it('is treated as an existing row by another entity manager', async (t) => {
    const { orm, Note, token, ctx } = await open(t)
    const em = orm.em.fork()
    em.create(Note, { id: 1, author: token.user })
    await em.flush()
    await orm.em.fork().transactional(async (em) => {
      em.create(Note, { id: 2, author: token.user })
    })
    assert.equal(await orm.em.fork().count(Note, { author: 'ada' }), 2)
    token.user.name = 'Ada King'
    await em.persist(token.user).flush()
    await entityManager(ctx).flush()
    assert.equal((await orm.em.fork().findOne(Note, 1, { populate: ['author'] }))?.author.name, 'Ada King')
  })

  it('does not trigger onLoad in a later query', async (t) => {
    const { orm, User, token, ctx } = await open(t)
    await orm.em.fork().insert(User, { id: 'bob', name: 'Bob', nick: 'bob' })
    const loaded: object[] = []
    orm.em.getEventManager().registerSubscriber({ onLoad: ({ entity }) => void loaded.push(entity) })
    const [bob] = await entityManager(ctx).find(User, { id: 'bob' })
    assert.deepEqual(loaded, [bob])
    assert.equal(await entityManager(ctx).findOne(User, 'ada'), token.user)
  })

  it('is flushed like an entity of `em.findOne`', async (t) => {
    const { orm, statements, Token, tokens } = await open(t)
    // The custom type converts this column to lower case.
    await orm.em.getConnection().execute("update user set nick = 'ADA'")
    const em = orm.em.fork()
    const reference = await em.findOneOrFail(Token, 'token', { populate: ['user'] })
    const ctx = preparedRequestTo(orm)
    const found = (await tokens.find(ctx, 'token')) ?? assert.fail()
    assert.deepEqual([found.user.nick, reference.user.nick], ['ada', 'ada'])
    const writes = async (flush: () => Promise<void>) => {
      statements.splice(0)
      await flush()
      return statements.filter((each) => each.startsWith('update'))
    }
    const expected = await writes(() => em.flush())
    assert.deepEqual(await writes(() => entityManager(ctx).flush()), expected)
  })
})
