import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { p } from '@mikro-orm/core'
import { ReversedText } from './custom-types.ts'
import { dropDatabases, openDatabase } from './open-database.ts'
import { insert } from './people.ts'
import { serveTokens, tokenClass, userClass } from './token-program.ts'

after(dropDatabases)

describe('A program with null in columns', () => {
  it('P1 returns undefined for null with `forceUndefined`, so that the token stays valid', async (t) => {
    const User = userClass()
    const UserToken = tokenClass(
      () => p.manyToOne(User),
      { revokedAt: p.datetime().nullable() },
      (token) => Reflect.get(token, 'revokedAt') === undefined,
    )
    const orm = await openDatabase(t, { entities: [User, UserToken], forceUndefined: true })
    await insert(orm.em.fork(), User, { id: 1, name: 'Ada' })
    await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1, revokedAt: null })
    const get = await serveTokens(t, orm, [User, UserToken])
    for (let i = 0; i < 3; i += 1) assert.deepEqual((await get()).body, { id: 1, name: 'Ada' })
    assert.equal(await orm.em.fork().count(UserToken), 1)
  })

  it('P1 does not call a custom type with null', async (t) => {
    const User = userClass({ motto: p.type(ReversedText).nullable() })
    const UserToken = tokenClass(() => p.manyToOne(User), { note: p.type(ReversedText).nullable() })
    const orm = await openDatabase(t, { entities: [User, UserToken] })
    await insert(orm.em.fork(), User, { id: 1, name: 'Ada', motto: null })
    await insert(orm.em.fork(), UserToken, { id: 2, value: 'value', user: 1, note: null })
    const get = await serveTokens(t, orm, [User, UserToken])
    for (let i = 0; i < 3; i += 1) assert.deepEqual((await get()).body, { id: 1, name: 'Ada', motto: null })
  })
})
