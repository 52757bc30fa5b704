import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { defineEntity, p, raw } from '@mikro-orm/core'
import { preparedRequestTo } from '../../../testing/request-to.ts'
import { entityManager } from '../../databases.ts'
import { KeyLookUp } from '../../key-look-up.ts'
import { LookUp } from '../../look-up.ts'
import { ModelSessionAuthenticatable } from '../../session-model.ts'
import { PointType } from './custom-types.ts'
import { dropDatabases, openDatabase } from './open-database.ts'
import { insert, type Model, model } from './people.ts'
import { serveTokens, tokenClass, userClass } from './token-program.ts'

after(dropDatabases)

describe('A program with bearer tokens', () => {
  const staffOf = async (t: TestContext, relate: (User: Model) => unknown) => {
    const User = userClass({ staff: p.integer().unique() })
    const UserToken = tokenClass(() => relate(User))
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    await insert(orm.em.fork(), User, { id: 1, staff: 2, name: 'Ada' })
    await insert(orm.em.fork(), User, { id: 2, staff: 1, name: 'Root' })
    // Ada's token contains her staff number.
    await insert(orm.em.fork(), UserToken, { id: 1, value: 'value', user: 2 })
    return serveTokens(t, orm, [User, UserToken])
  }

  it('P1 authenticates the user by the target key in the token', async (t) => {
    const get = await staffOf(t, (User) => p.manyToOne(User).targetKey('staff' as never))
    for (let i = 0; i < 3; i += 1) assert.deepEqual((await get()).body, { id: 1, staff: 2, name: 'Ada' })
  })

  it('P1 authenticates the user by the referenced column in the token', async (t) => {
    const get = await staffOf(t, (User) => p.manyToOne(User).referenceColumnName('staff'))
    for (let i = 0; i < 3; i += 1) assert.deepEqual((await get()).body, { id: 1, staff: 2, name: 'Ada' })
  })

  it('P1 loads a non-persisted property that shares the column of the relation', async (t) => {
    const User = userClass()
    const UserToken = tokenClass(() => p.manyToOne(User), { userId: p.integer().persist(false) })
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    await insert(orm.em.fork(), User, { id: 1, name: 'Ada' })
    await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1 })
    const get = await serveTokens(t, orm, [User, UserToken], {
      answer: (ctx) => ({ userId: Reflect.get(ctx.auth.require(UserToken), 'userId') }),
    })
    for (let i = 0; i < 3; i += 1) assert.deepEqual((await get()).body, { userId: 1 })
  })

  it('P1 authenticates no user for a token without a user', async (t) => {
    const User = userClass()
    const UserToken = tokenClass(() => p.manyToOne(User).nullable())
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: null })
    const get = await serveTokens(t, orm, [User, UserToken])
    const tokens = new LookUp({ model: UserToken, property: 'value', relation: 'user' })
    for (let i = 0; i < 3; i += 1) {
      assert.equal((await get()).status, 401)
      const found = await tokens.find(preparedRequestTo(orm), 'value')
      assert.ok(found && Reflect.get(found, 'user') === null)
    }
  })

  it('P1 authenticates token owners of two classes', async (t) => {
    const User = userClass()
    const Bot = model('Bot', { id: p.integer().primary(), name: p.string() })
    const UserToken = tokenClass(() => p.manyToOne([User, Bot]).discriminator('userType'))
    const orm = await openDatabase(t, { entities: [User, Bot, UserToken] })
    const em = orm.em.fork()
    const user = em.create(User, { id: 1, name: 'Ada' } as never)
    const bot = em.create(Bot, { id: 1, name: 'R2' } as never)
    em.create(UserToken, { id: 1, value: 'value', user } as never)
    em.create(UserToken, { id: 2, value: 'other', user: bot } as never)
    await em.flush()
    for (const [type, value, name] of [
      [User, 'value', 'Ada'],
      [Bot, 'other', 'R2'],
    ] as const) {
      const get = await serveTokens(t, orm, [type, UserToken])
      for (let i = 0; i < 2; i += 1) assert.deepEqual((await get(value)).body, { id: 1, name })
      const others = await get(value === 'value' ? 'other' : 'value')
      assert.equal(others.status, 401)
    }
  })

  it('throws for the `sessionID` of a user whose key is an object', async (t) => {
    const Schema = defineEntity({ name: 'Place', properties: { id: p.type(PointType).primary() } })
    class Place extends ModelSessionAuthenticatable(Schema.class) {}
    Schema.setClass(Place as never)
    const orm = await openDatabase(t, { entities: [Place as unknown as Model] })
    const place = orm.em.fork().create(Place as unknown as Model, { id: { x: 1, y: 2 } } as never)
    assert.throws(() => Reflect.get(place, 'sessionID'), { code: 'ERR_AUTH_MISUSE', message: /Place/ })
  })

  it('P1 finds a user by the key in the database, not by a changed key', async (t) => {
    const User = userClass()
    const orm = await openDatabase(t, { entities: [User] })
    await insert(orm.em.fork(), User, { id: 1, name: 'Ada' })
    await insert(orm.em.fork(), User, { id: 2, name: 'Root' })
    const users = new KeyLookUp(User)
    const ctx = preparedRequestTo(orm)
    Object.assign((await users.find(ctx, '1')) ?? {}, { id: 2 })
    assert.equal(Reflect.get((await users.find(ctx, '2')) ?? {}, 'name'), 'Root')
  })

  it('rejects a look-up by a key that is a date', async (t) => {
    const Day = model('Day', { at: p.datetime().primary() })
    const orm = await openDatabase(t, { entities: [Day] })
    const isClear = { code: 'ERR_AUTH_MISUSE', message: /Day/ }
    await assert.rejects(new KeyLookUp(Day).find(preparedRequestTo(orm), '2026-01-02'), isClear)
  })

  it('E9 rejects a token whose user is hidden by a filter with raw SQL', (t) =>
    rejectsHidden(t, { [raw((alias) => `${alias}.left_at is null`)]: [] }))
  it('E9 rejects a token whose user is hidden by a filter with a negation', (t) =>
    rejectsHidden(t, { $not: { name: 'Ada' } }))
  it('E9 rejects a token whose user is hidden by a filter with several `$or`', (t) =>
    rejectsHidden(t, {
      $and: [{ $or: [{ leftAt: null }, { id: 9 }] }, { $or: [{ id: 1 }, { name: 'Ada' }] }],
    }))
  it('E9 rejects a token whose user is hidden by a filter with a JSON property', (t) =>
    rejectsHidden(t, { settings: { active: true } }))

  it('E9 rejects a token whose user is hidden by one of several filters', async (t) => {
    const alternatives = (cond: object) => ({ cond: { $or: [cond, { id: 9 }] }, default: true })
    const filters = {
      known: { name: 'known', ...alternatives({ name: 'Ada' }) },
      active: { name: 'active', ...alternatives({ leftAt: null }) },
    }
    const User = userClass({ leftAt: p.datetime().nullable() }, { filters })
    const UserToken = tokenClass(() => p.manyToOne(User))
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    await insert(orm.em.fork(), User, { id: 1, name: 'Ada', leftAt: new Date(0) })
    await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1 })
    assert.equal(await orm.em.fork().findOne(User, 1 as never), null)
    const get = await serveTokens(t, orm, [User, UserToken])
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 401)
  })

  it('E9 rejects a token whose target key belongs to no user', async (t) => {
    const User = userClass({ staff: p.integer().unique() })
    const UserToken = tokenClass(() =>
      p
        .manyToOne(User)
        .targetKey('staff' as never)
        .ref()
        .createForeignKeyConstraint(false),
    )
    const orm = await openDatabase(t, { entities: [User, UserToken], loadStrategy: 'select-in' })
    await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 7 })
    const get = await serveTokens(t, orm, [User, UserToken], { answer: () => ({}) })
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 401)
  })

  it('E9 rejects a token of a user hidden by a filter, even if the request has already loaded the user without filters', async (t) => {
    const filters = { active: { name: 'active', cond: { leftAt: null }, default: true } }
    const User = userClass({ leftAt: p.datetime().nullable() }, { filters })
    const UserToken = tokenClass(() => p.manyToOne(User))
    const options = { loadStrategy: 'select-in', autoJoinRefsForFilters: false } as const
    const orm = await openDatabase(t, { entities: [User, UserToken], ...options })
    await insert(orm.em.fork(), User, { id: 1, name: 'Ada', leftAt: new Date(0) })
    await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1 })
    const get = await serveTokens(t, orm, [User, UserToken], {
      async before(ctx, next) {
        assert.ok(await entityManager(ctx).findOne(User, 1 as never, { filters: false }))
        await next()
      },
    })
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 401)
  })

  it('E9 rejects a token with a polymorphic relation to a user hidden by a filter of a parent class', (t) =>
    rejectsHiddenByParent(t, true))
  it('E9 rejects a token with a plain relation to a user hidden by a filter of a parent class', (t) =>
    rejectsHiddenByParent(t, false))

  it('E9 rejects a token whose user is hidden by one of two filters for one column', async (t) => {
    const filters = {
      retired: { name: 'retired', cond: { active: false }, default: true },
      active: { name: 'active', cond: { active: true }, default: true },
    }
    const User = userClass({ active: p.boolean() }, { filters })
    const UserToken = tokenClass(() => p.manyToOne(User))
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    await insert(orm.em.fork(), User, { id: 1, name: 'Ada', active: true })
    await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1 })
    assert.equal(await orm.em.fork().findOne(User, 1 as never), null)
    const get = await serveTokens(t, orm, [User, UserToken])
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 401)
  })

  it('checks the owner without a flush of unsaved users', async (t) => {
    const User = userClass()
    const UserToken = tokenClass(() => p.manyToOne(User))
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    await insert(orm.em.fork(), User, { id: 1, name: 'Ada' })
    await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1 })
    const get = await serveTokens(t, orm, [User, UserToken], {
      before(ctx, next) {
        const em = entityManager(ctx)
        em.persist(em.create(User, { id: 7, name: 'Grace' } as never))
        return next()
      },
    })
    assert.equal((await get()).status, 200)
    assert.equal(await orm.em.fork().count(User), 1)
  })

  it('M4 rejects a deleted token, even if MikroORM caches all results', async (t) => {
    const User = userClass()
    const UserToken = tokenClass(() => p.manyToOne(User))
    const orm = await openDatabase(t, { entities: [User, UserToken], resultCache: { global: 60_000 } })
    await insert(orm.em.fork(), User, { id: 1, name: 'Ada' })
    await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1 })
    const get = await serveTokens(t, orm, [User, UserToken])
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 200)
    await orm.em.fork().nativeDelete(UserToken, {})
    assert.equal((await get()).status, 401)
  })
})

/** Asserts that a token is rejected if a filter hides its user. MikroORM 7.2 joins the condition of this filter incorrectly. */
async function rejectsHidden(t: TestContext, cond: object): Promise<void> {
  const filters = { active: { name: 'active', cond, default: true } }
  const User = userClass({ leftAt: p.datetime().nullable(), settings: p.json() }, { filters })
  const UserToken = tokenClass(() => p.manyToOne(User))
  const orm = await openDatabase(t, { entities: [User, UserToken] })
  const row = { id: 1, name: 'Ada', leftAt: new Date(0), settings: { active: false } }
  await insert(orm.em.fork(), User, row)
  await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1 })
  assert.equal(await orm.em.fork().findOne(User, 1 as never), null)
  const get = await serveTokens(t, orm, [User, UserToken])
  for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 401)
}

/** Asserts that a token is rejected if a filter of the parent class hides its user. */
async function rejectsHiddenByParent(t: TestContext, isPolymorphic: boolean): Promise<void> {
  const columns = { id: p.integer().primary(), name: p.string(), leftAt: p.datetime().nullable() }
  const PersonSchema = defineEntity({
    ...{ name: 'Person', abstract: true, discriminatorColumn: 'kind', properties: columns },
  })
  const Admin = defineEntity({
    ...{ name: 'Admin', extends: PersonSchema, discriminatorValue: 'admin', properties: {} },
  })
  const Person = PersonSchema.class as Model
  const Bot = userClass()
  const UserToken = tokenClass(() =>
    isPolymorphic ? p.manyToOne([Person, Bot]).discriminator('ownerType') : p.manyToOne(Person),
  )
  const cond = isPolymorphic ? { leftAt: null } : { $not: { name: 'Ada' } }
  const orm = await openDatabase(t, {
    entities: [PersonSchema, Admin, Bot, UserToken] as never,
    filters: { active: { cond, entity: 'Person', default: true } } as never,
  })
  const em = orm.em.fork()
  const user = em.create(Admin.class as Model, { id: 1, name: 'Ada', leftAt: new Date(0) } as never)
  em.create(UserToken, { id: 2, value: 'value', user } as never)
  await em.flush()
  assert.equal(await orm.em.fork().findOne(Person, 1 as never), null)
  const get = await serveTokens(t, orm, [Person, UserToken])
  for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 401)
}
