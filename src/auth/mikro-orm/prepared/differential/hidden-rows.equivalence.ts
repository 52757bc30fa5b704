import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { type MikroORM, p, RequestContext } from '@mikro-orm/core'
import { entityManager } from '../../databases.ts'
import { KeyLookUp } from '../../key-look-up.ts'
import { type AnyOptions, dropDatabases, onlyPostgres, openDatabase } from './open-database.ts'
import { insert, type Model, model } from './people.ts'
import { serveTokens, tokenClass, userClass } from './token-program.ts'

after(dropDatabases)

const execute = ({ em }: MikroORM, sql: string) => em.getConnection().execute(sql) as Promise<unknown>

/** A database with soft deletion of users. Ada is deleted, but her token is not. */
async function openDeleted(t: TestContext, relate: (User: Model) => unknown, options: object = {}) {
  const User = userClass({ deletedAt: p.datetime().nullable() }, options)
  const UserToken = tokenClass(() => relate(User))
  const orm = await openDatabase(t, { entities: [User, UserToken] })
  await insert(orm.em.fork(), User, { id: 1, name: 'Ada', deletedAt: new Date(0) })
  await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1 })
  return { orm, User, UserToken }
}
const notDeleted = { name: 'notDeleted', cond: { deletedAt: null } }

describe('A program with schemas', onlyPostgres, () => {
  it('P1 authenticates only tokens in the configured schema', async (t) => {
    const User = userClass()
    const UserToken = tokenClass(() => p.manyToOne(User))
    const orm = await openDatabase(t, { entities: [User, UserToken], schema: 'app' })
    await insert(orm.em.fork(), User, { id: 1, name: 'Ada' })
    await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1 })
    await execute(orm, 'create table public."user" as select * from app."user"')
    await execute(orm, 'create table public.user_token as select * from app.user_token')
    await execute(orm, `update public.user_token set value = 'stolen'`)
    await execute(orm, `update public."user" set name = 'Root'`)
    const get = await serveTokens(t, orm, [User, UserToken])
    for (let i = 0; i < 3; i += 1) {
      assert.deepEqual((await get()).body, { id: 1, name: 'Ada' })
      assert.equal((await get('stolen')).status, 401)
    }
  })

  it('P1 authenticates only tokens in the schema of the RequestContext', async (t) => {
    const User = userClass({}, { schema: '*' })
    const UserToken = tokenClass(
      () => p.manyToOne(User),
      {},
      () => true,
      { schema: '*' },
    )
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    for (const [schema, name] of [
      ['one', 'Ada'],
      ['two', 'Grace'],
    ] as const) {
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
    for (const [schema, mine, other] of [
      ['one', 'Ada', 'Grace'],
      ['two', 'Grace', 'Ada'],
    ] as const) {
      tenant.schema = schema
      assert.deepEqual((await get(`of${mine}`)).body, { id: 1, name: mine })
      assert.equal((await get(`of${other}`)).status, 401)
    }
  })
})

describe('A program with filters', () => {
  it('P1 applies a filter that is added to the global entity manager after the first request', async (t) => {
    const { orm, User, UserToken } = await openDeleted(t, (User) => p.manyToOne(User))
    const get = await serveTokens(t, orm, [User, UserToken])
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 200)
    orm.em.addFilter({ ...notDeleted, entity: 'User' } as never)
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 401)
  })

  it('P1 applies a filter that is added to the entity manager of the request', async (t) => {
    const { orm, User, UserToken } = await openDeleted(t, (User) => p.manyToOne(User))
    const filters: object[] = []
    const get = await serveTokens(t, orm, [User, UserToken], {
      before(ctx, next) {
        for (const filter of filters) entityManager(ctx).addFilter(filter as never)
        return next()
      },
    })
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 200)
    filters.push({ ...notDeleted, entity: 'User' })
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 401)
    filters.pop()
    assert.equal((await get()).status, 200)
  })

  it('P1 applies the filters that the relation turns on', async (t) => {
    const { orm, User, UserToken } = await openDeleted(
      t,
      (User) => p.manyToOne(User).filters({ notDeleted: true }),
      { filters: { notDeleted: { ...notDeleted, default: false } } },
    )
    const get = await serveTokens(t, orm, [User, UserToken])
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 401)
    await execute(orm, 'update "user" set deleted_at = null')
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 200)
  })

  it('E9 KeyLookUp does not find a deleted user that a token relation without filters has loaded', async (t) => {
    const { orm, User, UserToken } = await openDeleted(t, (User) => p.manyToOne(User).filters(false), {
      filters: { notDeleted: { ...notDeleted, default: true } },
    })
    const byKey = new KeyLookUp(User)
    const get = await serveTokens(t, orm, [User, UserToken], {
      answer: async (ctx) => ({ name: Reflect.get((await byKey.find(ctx, '1')) ?? {}, 'name') ?? 'no user' }),
    })
    for (let i = 0; i < 2; i += 1) assert.deepEqual((await get()).body, { name: 'no user' })
  })

  it('P1 ignores a filter that the relation turns off', async (t) => {
    const { orm, User, UserToken } = await openDeleted(t, (User) => p.manyToOne(User).filters(false), {
      filters: { notDeleted: { ...notDeleted, default: true } },
    })
    const get = await serveTokens(t, orm, [User, UserToken])
    for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, 200)
  })
})

/** A program whose tokens belong to users or bots. Ada's token is `value`. A filter excludes deleted users. */
async function openOwners(t: TestContext, options: AnyOptions = {}, { filters: isFiltered = true } = {}) {
  const filters = { notDeleted: { ...notDeleted, default: true } }
  const User = userClass({ deletedAt: p.datetime().nullable() }, { filters })
  const Bot = model('Bot', { id: p.integer().primary(), name: p.string() })
  const owner = () => p.manyToOne([User, Bot]).discriminator('userType')
  const UserToken = tokenClass(() => (isFiltered ? owner() : owner().filters(false)))
  const orm = await openDatabase(t, { entities: [User, Bot, UserToken], ...options })
  const em = orm.em.fork()
  const user = em.create(User, { id: 1, name: 'Ada' } as never)
  em.create(UserToken, { id: 2, value: 'value', user } as never)
  await em.flush()
  return { get: await serveTokens(t, orm, [User, UserToken]), orm }
}

describe('A program with owners of several kinds', () => {
  it('E9 authenticates no owner that a filter excludes', async (t) => {
    const { get, orm } = await openOwners(t)
    assert.equal((await get()).status, 200)
    await execute(orm, 'update "user" set deleted_at = \'2026-01-02\'')
    assert.equal((await get()).status, 401)
  })

  it('P1 authenticates an excluded owner if the relation turns the filters off', async (t) => {
    const { get, orm } = await openOwners(t, {}, { filters: false })
    await execute(orm, 'update "user" set deleted_at = \'2026-01-02\'')
    assert.equal((await get()).status, 200)
  })

  it('E9 with `autoJoinRefsForFilters: false`, authenticates no excluded or deleted owner', async (t) => {
    const { get, orm } = await openOwners(t, { autoJoinRefsForFilters: false })
    assert.equal((await get()).status, 200)
    await execute(orm, 'update "user" set deleted_at = \'2026-01-02\'')
    assert.equal((await get()).status, 401)
    await execute(orm, 'delete from "user"')
    assert.equal((await get()).status, 401)
  })
})
