import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { type EntityManager, type MikroORM, p, RequestContext } from '@mikro-orm/core'
import { preparedRequestTo } from '../../../testing/request-to.ts'
import { entityManager } from '../../databases.ts'
import { KeyLookUp } from '../../key-look-up.ts'
import { LookUp } from '../../look-up.ts'
import type { LookUpOptions } from '../../look-ups.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases, onlyPostgres, openDatabase } from './open-database.ts'
import { people, type Variation } from './people.ts'

after(dropDatabases)

describe('P1 prepared look-ups and em.findOne agree: changes after the first look-up', () => {
  it('uses em.findOne after a change of the entity manager, and if queries are logged', async (t) => {
    const changes: ((orm: MikroORM) => unknown)[] = [
      ({ em }) => Object.assign(em, { signal: new AbortController().signal }),
      ({ config }) => config.getLogger().setDebugMode(['query']),
    ]
    const options = { allowGlobalContext: true, logger: () => {} }
    for (const later of changes) await compareWithFindOne(t, 'findOne', people({ options, later }))
  })
  it('uses em.findOne if the entity manager has a schema or a session context', onlyPostgres, async (t) => {
    const options = { allowGlobalContext: true }
    const addContext = ({ em }: MikroORM) => em.setSessionContext({ variables: { 'app.user': '1' } })
    for (const later of [({ em }: MikroORM) => Object.assign(em, { schema: 'public' }), addContext])
      await compareWithFindOne(t, 'findOne', people({ options, later }))
  })
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

  it('uses em.findOne in a RequestContext, and applies its filters', async (t) => {
    const { orm, find, calls } = await open(t, { user: { left: p.boolean() }, userRow: { left: true } })
    const [found, hidden] = await RequestContext.create(orm.em, async () => {
      const found = await find()
      orm.em.addFilter({ name: 'active', cond: { left: false }, entity: 'User' } as never)
      return [found, await find()]
    })
    assert.deepEqual([found?.user.name, hidden, calls()], ['Ada', undefined, 2])
    assert.ok(await find())
  })

  it('does not apply a filter of a later RequestContext to the entity manager of the request', async (t) => {
    const { orm, find, lookUpOptions } = await open(t)
    const ctx = preparedRequestTo(orm)
    await find(ctx)
    const tokens = await RequestContext.create(orm.em, () => {
      orm.em.addFilter({ name: 'phones', cond: { label: 'phone' }, entity: 'Token' } as never)
      return entityManager(ctx).find<object>(lookUpOptions.model, {})
    })
    assert.equal(tokens.length, 1)
  })

  it('finds a user by the key in the database, not by a changed key', async (t) => {
    const { orm, lookUpOptions } = await open(t)
    const users = new KeyLookUp(userOf(orm, lookUpOptions.model))
    const ctx = preparedRequestTo(orm)
    const user = await users.find(ctx, '1')
    Object.assign(user ?? assert.fail(), { id: 2 })
    assert.equal(await users.find(ctx, '1'), user)
    assert.equal(await users.find(ctx, '2'), undefined)
  })

  it('uses em.findOne in a transaction', onlyPostgres, async (t) => {
    const { orm, find, calls } = await open(t)
    const found = await orm.em.fork().transactional(() => find())
    assert.equal(found?.user.name, 'Ada')
    assert.equal(calls(), 1)
  })
})

/** The class of the users of a token class. */
function userOf(orm: MikroORM, model: LookUpOptions['model']) {
  const { properties } = orm.getMetadata().get<Record<string, object>>(model)
  return properties.user?.targetMeta?.class ?? assert.fail()
}
