import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { type EntityManager, type MikroORM, p, type ScalarReference, wrap } from '@mikro-orm/core'
import { LookUp } from '../../look-up.ts'
import type { Request } from './application.ts'
import { findOneRequest, lookUpRequest } from './compare-with-find-one.ts'
import { recordStatements, settle } from './observations.ts'
import { dropDatabases, openDatabase } from './open-database.ts'
import { type Model, people } from './people.ts'
import { serialisationsOf, stateOf } from './state.ts'

after(dropDatabases)

interface User {
  id: number
  name: string
  bio: string | null
  notes: ScalarReference<object>
  tags: string[]
  settings: { colours: string[] }
  bornAt: Date
}

interface Token extends Omit<User, 'name'> {
  label: string
  user: User
}

interface Handler {
  readonly em: () => EntityManager
  readonly orm: MikroORM
  readonly User: Model
  readonly Token: Model
}

const special = () => ({
  bio: p.text().lazy().nullable(),
  notes: p.json().lazy().ref(),
  tags: p.array(),
  settings: p.json(),
  bornAt: p.datetime(),
})
const bornAt = new Date('1815-12-10T08:00:00Z')
const row = { bio: 'Poet', notes: { engine: 1 }, tags: ['a'], settings: { colours: ['red'] }, bornAt }

/** Calls a handler with a token of `LookUp` and with a token of `em.findOne`. Compares the results, statements and tokens. */
async function compare(t: TestContext, handle: (token: Token, handler: Handler) => unknown): Promise<void> {
  const both = { user: special(), token: special(), userRow: row, tokenRow: row }
  const { entities, fill, lookUpOptions } = people(both)
  const [User, Token] = entities as readonly [Model, Model]
  const orm = await openDatabase(t, { entities: [User, Token] })
  const tokens = new LookUp(lookUpOptions)
  const observe = async (request: Request) => {
    await orm.schema.clear()
    await fill(orm.em.fork(), orm, entities)
    const found = (await request.find()) as Token
    const { statements, stop } = recordStatements(orm)
    const result = await settle(async () => handle(found, { em: request.manager, orm, User, Token }))
    stop()
    return { result: stateOf(result), statements, state: stateOf(found), plain: serialisationsOf(found) }
  }
  const expected = await observe(findOneRequest(orm, lookUpOptions, 'value'))
  assert.deepEqual(await observe(lookUpRequest(orm, tokens, 'value')), expected)
}

describe('P1 prepared look-ups and em.findOne agree: entities before the entity manager is requested', () => {
  it('lazy columns', (t) =>
    compare(t, async ({ user }) => {
      await wrap(user).populate(['bio'])
      return user.notes.load()
    }))
  it('another entity manager', (t) =>
    compare(t, async (token, { orm }) => {
      const em = orm.em.fork()
      wrap(token).assign({ label: 'phone' })
      await em.populate(token, ['bio', 'user.notes'] as never)
      em.assign(token, { user: { id: 1, name: 'Grace' } } as never)
      await em.refresh(token).catch(String)
      await em.flush()
      return (await em.upsert(token.user)) === token.user
    }))
  it("serialisation with the options of the entities' own database", async (t) => {
    const { entities, fill, lookUpOptions } = people()
    const options = { entities: [...entities], serialization: { forceObject: true } }
    const orm = await openDatabase(t, options)
    await fill(orm.em.fork(), orm, entities)
    // Both databases share the prototypes of the entities.
    await openDatabase(t, { ...options, serialization: { forceObject: false } })
    const reference = await findOneRequest(orm, lookUpOptions, 'value').find()
    const request = lookUpRequest(orm, new LookUp(lookUpOptions), 'value')
    const found = (await request.find()) ?? assert.fail()
    const expected = serialisationsOf(reference ?? assert.fail())
    assert.deepEqual(serialisationsOf(found), expected)
    request.manager()
    assert.deepEqual(serialisationsOf(found), expected)
  })
})

describe('P1 prepared look-ups and em.findOne agree: entities with lazy columns', () => {
  it('flush of columns that are not loaded, of null, and of values that are changed in place', (t) =>
    compare(t, async (token, { em }) => {
      token.bio = null
      token.user.bio = 'Poet'
      token.user.notes.set({ engine: 2 })
      token.settings.colours.push('blue')
      token.user.tags.push('b')
      token.bornAt.setTime(0)
      await em().flush()
    }))
  it('queries that load the columns, and refresh', (t) =>
    compare(t, async (token, { em, User, Token }) => {
      token.user.bio = 'Changed'
      token.label = 'phone'
      const users = await em().find(User, {}, { populate: ['*'] as never })
      const others = await em().find(Token, {}, { populate: ['bio'] as never })
      await em().flush()
      await em().refresh(token)
      await em().refresh(token.user, { populate: ['bio', 'notes'] as never })
      await em().flush()
      return [users[0] === token.user, others[0] === (token as object)]
    }))
  it('merge, map and upsert', (t) =>
    compare(t, async ({ user }, { em, User }) => {
      const merged = em().merge(User, { id: 1, name: 'Grace' } as never)
      const mapped = em().map(User, { id: 1, name: 'Mary' } as never)
      const upserted = await em().upsert(User, { ...row, id: 1, name: 'Ada' } as never)
      await em().flush()
      return [merged, mapped, upserted].map((each) => each === (user as object))
    }))
  it('transaction that loads the entities again', (t) =>
    compare(t, async (token, { em, User, Token }) => {
      token.bornAt = new Date(0)
      const change = async (inner: EntityManager) => {
        const again = (await inner.findOneOrFail(Token, 2 as never, { populate: ['bio'] as never })) as Token
        again.bio = 'Changed'
        again.user = inner.create(User, { ...row, id: 3, name: 'Grace' } as never) as User
      }
      await em().transactional(change, { clear: true })
      await em().flush()
    }))
  it('order of the properties, and persist and removal after clear', (t) =>
    compare(t, async (token, { em }) => {
      em().clear()
      const names = Object.keys(token)
      token.label = 'phone'
      await em().persist(token).flush()
      await em().remove(token).flush()
      return names
    }))
})
