import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import {
  defineEntity,
  type EntityManager,
  LoadableBaseEntity,
  type MikroORM,
  p,
  type Ref,
  type ScalarReference,
  wrap,
} from '@mikro-orm/core'
import { LookUp } from '../../look-up.ts'
import type { Application, Request } from './application.ts'
import { findOneRequest, lookUpRequest } from './compare-with-find-one.ts'
import { recordStatements, settle } from './observations.ts'
import { dropDatabases, openDatabase } from './open-database.ts'
import { type Model, people, peopleOf, tokensOf, type Variation } from './people.ts'
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
const row = {
  ...{ bio: 'Mathematician', notes: { engine: 1 }, tags: ['a'], settings: { colours: ['red'] } },
  bornAt: new Date('1815-12-10T08:00:00Z'),
}

/** Calls a handler with a token of `LookUp` and with a token of `em.findOne`. Compares the results, statements and tokens. */
async function compare(
  t: TestContext,
  handle: (token: Token, handler: Handler) => unknown,
  variation: Variation | Application = {},
): Promise<void> {
  const both = { user: special(), token: special(), userRow: row, tokenRow: row }
  const isComplete = 'change' in variation && 'lookUpOptions' in variation
  const { entities, fill, lookUpOptions } = isComplete
    ? (variation as Application)
    : people({ ...both, ...variation } as Variation)
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

describe('P1 LookUp and em.findOne agree: entities before the entity manager is requested', () => {
  it('load of a lazy scalar reference', (t) => compare(t, ({ user }) => user.notes.load()))
  it('populate of a lazy column', (t) => compare(t, ({ user }) => wrap(user).populate(['bio'])))
  it('load of a reference', (t) =>
    compare(
      t,
      async (token, { orm }) => {
        await orm.em.getConnection().execute(`update "user" set name = 'Grace'`)
        return (token.user as unknown as Ref<User>).load({ refresh: true })
      },
      { relate: (User) => p.manyToOne(User).ref() },
    ))
  it('assign of properties of the user', (t) =>
    compare(t, (token) => void wrap(token).assign({ user: { id: 1, name: 'Grace' } })))
  it('flush of another entity manager', (t) =>
    compare(t, async ({ user }, { orm }) => {
      user.name = 'Grace'
      await orm.em.fork().persist(user).flush()
    }))

  it('refresh, populate, assign and upsert of another entity manager', (t) =>
    compare(t, async (token, { orm }) => {
      const em = orm.em.fork()
      await em.populate(token, ['bio', 'user.notes'] as never)
      em.assign(token, { user: { id: 1, name: 'Grace' } } as never)
      await em.refresh(token).catch(String)
      await em.flush()
      return (await em.upsert(token.user)) === token.user
    }))
  it('load of an entity that extends LoadableBaseEntity', (t) => {
    class Person extends LoadableBaseEntity {
      declare id: number
      declare name: string
    }
    const properties = { id: p.integer().primary(), name: p.string(), ...special() }
    defineEntity({ class: Person as never, properties: properties as never })
    const User = Person as unknown as Model
    return compare(
      t,
      ({ user }) => (user as unknown as LoadableBaseEntity).load({ populate: ['bio'] as never }),
      peopleOf(User, tokensOf(User), { userRow: row }),
    )
  })

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

describe('P1 LookUp and em.findOne agree: entities with lazy columns', () => {
  it('flush of a column that is not loaded', (t) =>
    compare(t, async (token, { em }) => {
      token.bio = 'New'
      token.user.bio = 'Mathematician'
      await em().flush()
    }))
  it('flush of a column that is set to null', (t) =>
    compare(t, async (token, { em }) => {
      token.bio = null
      token.user.notes.set({ engine: 2 })
      await em().flush()
    }))
  it('query that loads the columns', (t) =>
    compare(t, async (token, { em, User, Token }) => {
      token.user.bio = 'Changed'
      const users = await em().find(User, {}, { populate: ['*'] as never })
      const others = await em().find(Token, {}, { populate: ['bio'] as never })
      await em().flush()
      return [users[0] === token.user, others[0] === (token as object)]
    }))
  it('em.refresh', (t) =>
    compare(t, async (token, { em }) => {
      token.label = 'phone'
      await em().refresh(token)
      await em().refresh(token.user, { populate: ['bio', 'notes'] as never })
      await em().flush()
    }))
  it('change of a JSON value, an array and a date in place', (t) =>
    compare(t, async ({ settings, tags, bornAt, user }, { em }) => {
      settings.colours.push('blue')
      user.tags.push('b')
      tags.pop()
      bornAt.setTime(0)
      await em().flush()
    }))
  it('merge, map and upsert', (t) =>
    compare(t, async ({ user }, { em, User }) => {
      const merged = em().merge(User, { id: 1, name: 'Grace' } as never)
      const mapped = em().map(User, { id: 1, name: 'Mary' } as never)
      const upserted = await em().upsert(User, { ...row, id: 1, name: 'Ada' } as never)
      await em().flush()
      return [merged, mapped, upserted].map((each) => each === (user as object))
    }))
  it('order of the properties', (t) =>
    compare(t, (token, { em }) => {
      em()
      return Object.keys(token)
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
  it('repository, stream and cursor', (t) =>
    compare(t, async (token, { em, Token }) => {
      const found = await em().getRepository(Token).findAll()
      for await (const each of em().stream(Token, { populate: ['user'] as never })) found.push(each)
      const query = { first: 1, orderBy: { id: 'asc' }, where: {} } as never
      found.push(...(await em().findByCursor(Token, query)).items)
      return found.map((each: unknown) => each === (token as object))
    }))
  it('other entities that refer to the user', (t) =>
    compare(t, async ({ user }, { em, orm, Token }) => {
      const values = { ...row, id: 3, value: 'other', label: 'phone', user }
      const other = orm.em.fork().create(Token, values as never)
      await em().persist(other).flush()
      return em().count(Token, { user } as never)
    }))
  it('persist and removal after clear', (t) =>
    compare(t, async (token, { em }) => {
      em().clear()
      token.label = 'phone'
      await em().persist(token).flush()
      await em().remove(token).flush()
    }))
})
