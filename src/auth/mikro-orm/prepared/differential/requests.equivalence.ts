import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { type EntityManager, EntitySchema, type MikroORM, p, RequestContext } from '@mikro-orm/core'
import { preparedRequestTo } from '../../../testing/request-to.ts'
import { entityManager } from '../../databases.ts'
import { KeyLookUp } from '../../key-look-up.ts'
import { LookUp } from '../../look-up.ts'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases, onlyPostgres, openDatabase } from './open-database.ts'
import { type Model, people, type Variation } from './people.ts'

after(dropDatabases)

/** Compares `LookUp` with `em.findOne` for a variation of the models. */
const compare = (t: TestContext, strategy: Strategy, variation: Variation) =>
  compareWithFindOne(t, strategy, people(variation))

/** Compares `LookUp` with `em.findOne` after a change of an option. */
const compareOption = (t: TestContext, option: string, value: unknown) =>
  compare(t, 'findOne', { later: ({ config }) => config.set(option as never, value as never) })

describe('P1 LookUp and em.findOne agree: changes after the first look-up', () => {
  it('schema of the entity manager', onlyPostgres, (t) =>
    compare(t, 'findOne', { later: ({ em }) => Object.assign(em, { schema: 'public' }) }),
  )
  it('session context of the entity manager', onlyPostgres, (t) =>
    compare(t, 'findOne', {
      options: { allowGlobalContext: true },
      later: ({ em }) => em.setSessionContext({ variables: { 'app.user': '1' } }),
    }),
  )
  it('abort signal of the entity manager', (t) =>
    compare(t, 'findOne', {
      later: ({ em }) => Object.assign(em, { signal: new AbortController().signal }),
    }))
  it('option loadStrategy', (t) => compareOption(t, 'loadStrategy', 'select-in'))
  it('option forceUndefined', (t) => compareOption(t, 'forceUndefined', true))
  it('strictness of a filter', (t) =>
    compare(t, 'findOne', {
      user: { left: p.boolean() },
      userRow: { left: false },
      userOptions: { filters: { active: { name: 'active', cond: { left: false }, default: true } } },
      later(orm) {
        for (const { filters } of orm.getMetadata())
          if (filters.active) Object.assign(filters.active, { strict: true })
      },
    }))
  it('entity that is discovered again', (t) => {
    const application = people()
    const later = async (orm: MikroORM) => {
      const entities = [...application.entities] as Model[]
      await orm.em.getConnection().execute(`alter table "user" add column motto text default 'Eureka'`)
      EntitySchema.REGISTRY.get(entities[0] ?? assert.fail())?.addProperty('motto' as never, 'string', {
        nullable: true,
      })
      orm.discoverEntity(entities as never, ['User', 'Token'] as never)
    }
    return compareWithFindOne(t, 'findOne', { ...application, later })
  })
  it('log of queries', (t) =>
    compare(t, 'findOne', {
      options: { logger: () => {} },
      later: ({ config }) => config.getLogger().setDebugMode(['query']),
    }))
})

/** An application after the first look-up of a token, and a count of later calls of `em.findOne`. */
async function open(t: TestContext, variation?: Variation) {
  const { entities, fill, lookUpOptions, options } = people(variation)
  const orm = await openDatabase(t, { entities: [...entities], ...options })
  await fill(orm.em.fork(), orm, entities)
  const tokens = new LookUp(lookUpOptions)
  const find = async (ctx = preparedRequestTo(orm), value = 'value') =>
    (await tokens.find(ctx, value)) as { label: string; user: { name: string } } | undefined
  await find()
  const { mock } = t.mock.method(Object.getPrototypeOf(orm.em) as EntityManager, 'findOne')
  return { orm, find, lookUpOptions, calls: () => mock.callCount() }
}

describe('LookUp in a request', () => {
  it('uses em.findOne if a handler requests the entity manager during the look-up', async (t) => {
    const { orm, find, calls } = await open(t)
    const ctx = preparedRequestTo(orm)
    const finding = find(ctx)
    const em = entityManager(ctx)
    const found = await finding
    assert.equal(calls(), 1)
    assert.ok(found && em.getUnitOfWork().getIdentityMap().values().includes(found))
  })

  it('uses em.findOne for a loaded row, and keeps its unsaved changes', async (t) => {
    const { orm, find, calls } = await open(t)
    const ctx = preparedRequestTo(orm)
    const first = await find(ctx)
    assert.ok(first)
    first.label = 'phone'
    assert.equal(calls(), 0)
    assert.equal(await find(ctx), first)
    assert.equal(calls(), 1)
    await entityManager(ctx).flush()
    assert.equal((await find())?.label, 'phone')
  })

  it('returns the loaded user as the user of the token', async (t) => {
    const { orm, find, lookUpOptions } = await open(t)
    const { targetMeta } =
      orm.getMetadata().get<Record<string, object>>(lookUpOptions.model).properties.user ?? {}
    const ctx = preparedRequestTo(orm)
    const user = await new KeyLookUp(targetMeta?.class ?? assert.fail()).find(ctx, '1')
    assert.ok(user)
    Object.assign(user, { name: 'Grace' })
    assert.equal((await find(ctx))?.user, user)
    await entityManager(ctx).flush()
    assert.equal((await find())?.user.name, 'Grace')
  })

  it('uses em.findOne in a RequestContext', async (t) => {
    const { orm, find, calls } = await open(t)
    const found = await RequestContext.create(orm.em, () => find())
    assert.equal(found?.user.name, 'Ada')
    assert.equal(calls(), 1)
  })

  it('applies a filter of a RequestContext', async (t) => {
    const { orm, find } = await open(t, { user: { left: p.boolean() }, userRow: { left: true } })
    const found = await RequestContext.create(orm.em, () => {
      orm.em.addFilter({ name: 'active', cond: { left: false }, entity: 'User' } as never)
      return find()
    })
    assert.equal(found, undefined)
    assert.ok(await find())
  })

  it('does not apply a filter of a later RequestContext to the entity manager of the request', async (t) => {
    const { orm, find, lookUpOptions } = await open(t)
    for (const value of ['value', 'unknown']) {
      const ctx = preparedRequestTo(orm)
      await find(ctx, value)
      const tokens = await RequestContext.create(orm.em, () => {
        orm.em.addFilter({ name: 'phones', cond: { label: 'phone' }, entity: 'Token' } as never)
        return entityManager(ctx).find<object>(lookUpOptions.model, {})
      })
      assert.equal(tokens.length, 1)
    }
  })

  it('uses em.findOne in a transaction', onlyPostgres, async (t) => {
    const { orm, find, calls } = await open(t)
    const found = await orm.em.fork().transactional(() => find())
    assert.equal(found?.user.name, 'Ada')
    assert.equal(calls(), 1)
  })
})
