import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { defineEntity, type MikroORM, p } from '@mikro-orm/core'
import Koa from 'koa'
import { type AuthContext, auth } from '../auth.ts'
import { guard } from '../guard.ts'
import { onlyPostgres, openPostgres } from '../testing/open-postgres.ts'
import { requestTo } from '../testing/request-to.ts'
import { serve } from '../testing/serve.ts'
import { type DatabasesOptions, databases } from './databases.ts'
import { KeyLookUp } from './key-look-up.ts'
import { LookUp } from './look-up.ts'
import { ModelAuthenticatable } from './password-model.ts'
import { prepared } from './prepared/index.ts'
import { ModelTokenAuthenticatable } from './token-model.ts'

function models() {
  const UserSchema = defineEntity({
    name: 'User',
    properties: { id: p.integer().primary(), name: p.string(), hash: p.string() },
  })
  class User extends ModelAuthenticatable(UserSchema.class, { username: 'name', passwordHash: 'hash' }) {
    verify(password: string): boolean {
      return password === this.hash
    }
  }
  UserSchema.setClass(User)
  const TokenSchema = defineEntity({
    name: 'Token',
    properties: { id: p.integer().primary(), value: p.uuid(), user: () => p.manyToOne(User) },
  })
  class Token extends ModelTokenAuthenticatable(TokenSchema.class, { value: 'value', user: 'user' }) {
    get isValid(): boolean {
      return true
    }
  }
  TokenSchema.setClass(Token)
  return { User, Token }
}

const current = '018f0000-0000-7000-8000-00000000000a'
const ended = '018f0000-0000-7000-8000-00000000000b'

/** Serves an application whose replica lags: its token is `ended`, and its password `old`. */
async function serveLagging(t: TestContext, options?: DatabasesOptions) {
  const { User, Token } = models()
  // The first hook of a test runs first. The database of the replica can be dropped only after its connections are closed.
  const orms: MikroORM[] = []
  t.after(() => Promise.all(orms.map((orm) => orm.close(true))))
  const replica = await openPostgres(t, [User, Token])
  const dbName = replica.orm.config.get('dbName') ?? ''
  const { clientUrl = '' } = replica.orm.config.getAll()
  const { orm } = await openPostgres(t, [User, Token], { replicas: [{ dbName, clientUrl }] })
  orms.push(orm)
  for (const [em, value, hash] of [
    [orm.em.fork(), current, 'new'],
    [replica.orm.em.fork(), ended, 'old'],
  ] as const) {
    await em.insert(User, { id: 1, name: 'Ada', hash })
    await em.insert(Token, { id: 2, value, user: 1 })
  }
  const app = new Koa<object, AuthContext>()
  app.use(databases(orm, options))
  app.use(auth())
  app.use(Token.authenticator())
  app.use(User.authenticator())
  app.use(guard(User))
  app.use((ctx) => {
    ctx.status = 204
  })
  const { url } = await serve(t, app)
  return async (authorization: string) => (await fetch(url, { headers: { authorization } })).status
}

describe('models on PostgreSQL with a read replica', onlyPostgres, () => {
  for (const [name, options] of [
    ['em.findOne', {}],
    ['prepared()', { lookUps: prepared() }],
  ] as const)
    it(`E9 read the primary with ${name}, so that an ended token and an old password are rejected`, async (t) => {
      const get = await serveLagging(t, options)
      for (let i = 0; i < 2; i += 1) {
        assert.equal(await get(`Bearer ${current}`), 204)
        assert.equal(await get(`Bearer ${ended}`), 401)
      }
      assert.equal(await get(`Basic ${btoa('Ada:new')}`), 204)
      assert.equal(await get(`Basic ${btoa('Ada:old')}`), 401)
    })

  it('read the replica with `preferReadReplicas`', async (t) => {
    const get = await serveLagging(t, { preferReadReplicas: true })
    assert.equal(await get(`Bearer ${ended}`), 204)
    assert.equal(await get(`Basic ${btoa('Ada:old')}`), 204)
  })
})

describe('models on PostgreSQL with values that a column cannot contain', onlyPostgres, () => {
  it('reject a token that is no UUID with 401', async (t) => {
    const get = await serveLagging(t)
    for (const token of ['x', `${current}0`, 'null']) assert.equal(await get(`Bearer ${token}`), 401)
  })

  it('find no user for a key out of range', async (t) => {
    const { User, Token } = models()
    const { orm } = await openPostgres(t, [User, Token])
    for (const options of [{}, { lookUps: prepared() }]) {
      assert.equal(await new KeyLookUp(User).find(requestTo(orm, options), '99999999999'), undefined)
      const byID = new LookUp({ model: User, property: 'id' })
      assert.equal(await byID.find(requestTo(orm, options), 1e21), undefined)
    }
  })
})
