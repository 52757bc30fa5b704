import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { p, RequestContext, raw } from '@mikro-orm/core'
import { entityManager } from '../../databases.ts'
import { type AnyOptions, dropDatabases, execute, onlyPostgres, openDatabase } from './open-database.ts'
import { insert, type Model } from './people.ts'
import { answers, serveTokens, tokenClass, userClass } from './token-program.ts'

after(dropDatabases)

const isActive = { name: 'active', cond: { leftAt: null }, default: true }

/** A program with one token of Ada, who has left. */
async function openLeft(
  t: TestContext,
  filters: object = { active: isActive },
  relate: (User: Model) => unknown = (User) => p.manyToOne(User),
  options: AnyOptions = {},
) {
  const columns = { leftAt: p.datetime().nullable(), settings: p.json(), isStaff: p.boolean() }
  const User = userClass(columns, { filters })
  const UserToken = tokenClass(() => relate(User))
  const orm = await openDatabase(t, { entities: [User, UserToken], ...options })
  const row = { leftAt: new Date(0), settings: { active: false }, isStaff: true }
  await insert(orm.em.fork(), User, { id: 1, name: 'Ada', ...row })
  await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1 })
  return { orm, User, UserToken }
}

async function rejectsHidden(t: TestContext, filters: object): Promise<void> {
  const { orm, User, UserToken } = await openLeft(t, filters)
  assert.equal(await orm.em.fork().findOne(User, 1 as never), null)
  await answers(await serveTokens(t, orm, [User, UserToken]), 401)
}

describe('A program with filters', () => {
  it('E9 rejects a token whose user is hidden by a filter that MikroORM joins incorrectly', async (t) => {
    const conditions = [
      { [raw((alias) => `${alias}.left_at is null`)]: [] },
      { $not: { name: 'Ada' } },
      { $and: [{ $or: [{ leftAt: null }, { id: 9 }] }, { $or: [{ id: 1 }, { name: 'Ada' }] }] },
      { settings: { active: true } },
    ]
    for (const cond of conditions) await rejectsHidden(t, { active: { ...isActive, cond } })
  })

  it('E9 rejects a token whose user is hidden by one of several filters', async (t) => {
    const other = (cond: object) => ({ name: 'other', cond, default: true })
    const either = { ...isActive, cond: { $or: [{ leftAt: null }, { id: 9 }] } }
    for (const filters of [
      { other: other({ $or: [{ name: 'Ada' }, { id: 9 }] }), active: either },
      { other: other({ isStaff: false }), active: { ...isActive, cond: { isStaff: true } } },
    ])
      await rejectsHidden(t, filters)
  })

  it('E9 rejects a token of a hidden user that the request has already loaded without filters', async (t) => {
    const options = { loadStrategy: 'select-in', autoJoinRefsForFilters: false } as const
    const { orm, User, UserToken } = await openLeft(t, undefined, undefined, options)
    const get = await serveTokens(t, orm, [User, UserToken], {
      async before(ctx, next) {
        assert.ok(await entityManager(ctx).findOne(User, 1 as never, { filters: false }))
        await next()
      },
    })
    await answers(get, 401)
  })
})

describe('A program with bearer tokens', () => {
  it('checks the owner without a flush of unsaved users', async (t) => {
    const { orm, User, UserToken } = await openLeft(t, {})
    const get = await serveTokens(t, orm, [User, UserToken], {
      before(ctx, next) {
        const em = entityManager(ctx)
        const row = { settings: {}, isStaff: false }
        em.persist(em.create(User, { id: 7, name: 'Grace', ...row } as never))
        return next()
      },
    })
    assert.equal((await get()).status, 200)
    assert.equal(await orm.em.fork().count(User), 1)
  })

  it('M4 rejects a deleted token, even if MikroORM caches all results', async (t) => {
    const options = { resultCache: { global: 60_000 } } as const
    const { orm, User, UserToken } = await openLeft(t, {}, undefined, options)
    const get = await serveTokens(t, orm, [User, UserToken])
    await answers(get, 200)
    await orm.em.fork().nativeDelete(UserToken, {})
    assert.equal((await get()).status, 401)
  })

  it('P1 authenticates only tokens in the schema of the RequestContext', onlyPostgres, async (t) => {
    const anySchema = { schema: '*' }
    const User = userClass({}, anySchema)
    const UserToken = tokenClass(
      () => p.manyToOne(User),
      {},
      () => true,
      anySchema,
    )
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    for (const [schema, name] of Object.entries({ one: 'Ada', two: 'Grace' })) {
      await execute(orm, `create schema "${schema}"`)
      await orm.schema.update({ schema })
      const em = orm.em.fork({ schema })
      await em.insert(User, { id: 1, name } as never)
      await em.insert(UserToken, { id: 1, value: `of${name}`, user: 1 } as never)
    }
    const tenant = { schema: 'one' }
    const get = await serveTokens(t, orm, [User, UserToken], {
      before: (_, next) => RequestContext.create(orm.em, next, tenant) as Promise<unknown>,
    })
    assert.deepEqual([(await get('ofAda')).status, (await get('ofGrace')).status], [200, 401])
    tenant.schema = 'two'
    assert.deepEqual([(await get('ofAda')).status, (await get('ofGrace')).status], [401, 200])
  })
})
