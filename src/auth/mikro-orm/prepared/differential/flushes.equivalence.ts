import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { type MikroORM, p, type ScalarReference } from '@mikro-orm/core'
import { entityManager } from '../../databases.ts'
import { KeyLookUp } from '../../key-look-up.ts'
import { LookUp } from '../../look-up.ts'
import { dropDatabases, isOnPostgres, openDatabase } from './open-database.ts'
import { insert, type Model } from './people.ts'
import { serveTokens, tokenClass, userClass } from './token-program.ts'

after(dropDatabases)

const columns = {
  settings: p.json<object>(),
  tags: p.array(),
  roles: p.enum(['reader', 'editor']).array(),
  period: p.interval(),
  version: p.integer().version(),
  changes: p
    .integer()
    .default(0)
    .onUpdate((user) => user.changes + 1),
}
const row = { settings: { theme: 'dark' }, tags: ['a'], roles: ['editor'], period: '1 day' }

/** The column value for the roles `['reader']`. */
const reader = isOnPostgres ? '{reader}' : 'reader'

/** Inserts Ada and her token. */
async function fill(orm: MikroORM, User: Model, UserToken: Model, values: object): Promise<void> {
  await insert(orm.em.fork(), User, { id: 1, name: 'Ada', ...values })
  await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1 })
}

describe('A program whose handler flushes', () => {
  it('P1 does not write columns that the handler has not changed', async (t) => {
    const User = userClass(columns)
    const UserToken = tokenClass(() => p.manyToOne(User))
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    await fill(orm, User, UserToken, row)
    const get = await serveTokens(t, orm, [User, UserToken], {
      async answer(ctx) {
        const em = entityManager(ctx)
        // Simulates another process that revokes the role.
        await orm.em.getConnection().execute(`update "user" set roles = '${reader}'`)
        await em.flush()
      },
    })
    for (let i = 0; i < 3; i += 1) assert.equal((await get()).status, 200)
    const user = (await orm.em.fork().findOne(User, { id: 1 } as never)) as Record<string, unknown> | null
    assert.deepEqual([user?.roles, user?.settings, user?.tags], [['reader'], { theme: 'dark' }, ['a']])
    assert.deepEqual([user?.version, user?.changes], [1, 0])
  })

  it('P1 updates the row once if three requests set a column to the same value', async (t) => {
    const User = userClass(columns)
    const UserToken = tokenClass(() => p.manyToOne(User))
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    await fill(orm, User, UserToken, row)
    const get = await serveTokens(t, orm, [User, UserToken], {
      async answer(ctx) {
        Object.assign(ctx.auth.require(User), { tags: ['b'] })
        await entityManager(ctx).flush()
      },
    })
    for (let i = 0; i < 3; i += 1) assert.equal((await get()).status, 200)
    const user = (await orm.em.fork().findOne(User, { id: 1 } as never)) as Record<string, unknown> | null
    assert.deepEqual([user?.tags, user?.version, user?.changes], [['b'], 2, 1])
  })

  it('P1 changes and saves a scalar reference', async (t) => {
    const User = userClass({ nick: p.string().ref() })
    const UserToken = tokenClass(() => p.manyToOne(User))
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    await fill(orm, User, UserToken, { nick: 'ada' })
    const get = await serveTokens(t, orm, [User, UserToken], {
      async answer(ctx) {
        const nick = Reflect.get(ctx.auth.require(User), 'nick') as ScalarReference<string>
        const before = nick.unwrap()
        nick.set(`${before}!`)
        await entityManager(ctx).flush()
        return { before }
      },
    })
    for (const before of ['ada', 'ada!', 'ada!!']) assert.deepEqual((await get()).body, { before })
  })

  it('P1 returns one object for several look-ups of a row, and saves its changes', async (t) => {
    const User = userClass()
    const UserToken = tokenClass(() => p.manyToOne(User))
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    await fill(orm, User, UserToken, {})
    const byKey = new KeyLookUp(User)
    const byName = new LookUp({ model: User, property: 'name' })
    const get = await serveTokens(t, orm, [User, UserToken], {
      async answer(ctx) {
        const user = ctx.auth.require(User) as { name: string }
        const before = user.name
        user.name = `${before}!`
        const same = [await byKey.find(ctx, '1'), await byName.find(ctx, before)]
        await entityManager(ctx).flush()
        return { before, same: same.map((other) => other === user) }
      },
    })
    for (const before of ['Ada', 'Ada!', 'Ada!!'])
      assert.deepEqual((await get()).body, { before, same: [true, true] })
  })
})
