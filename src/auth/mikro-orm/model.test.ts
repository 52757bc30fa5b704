import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { defineEntity, type EntityClass, MikroORM, p } from '@mikro-orm/sqlite'
import Koa from 'koa'
import session from 'koa-session'
import { type AuthContext, type AuthMiddleware, auth } from '../auth.ts'
import { guard } from '../guard.ts'
import { serve } from '../testing/serve.ts'
import { databases, ModelAuthenticatable, ModelTokenAuthenticatable } from './index.ts'

const properties = { id: p.uuid().primary(), email: p.string(), passwordHash: p.string() }

function users() {
  const UserSchema = defineEntity({ name: 'User', properties })
  class User extends ModelAuthenticatable(UserSchema.class, {
    username: 'email',
    passwordHash: 'passwordHash',
  }) {
    verify() {
      return false
    }
  }
  return { UserSchema, User }
}

function tokens(User: EntityClass<object>) {
  const TokenSchema = defineEntity({
    name: 'Token',
    properties: { id: p.uuid().primary(), value: p.string(), user: () => p.manyToOne(User) },
  })
  class Token extends ModelTokenAuthenticatable(TokenSchema.class, { value: 'value', user: 'user' }) {
    get isValid() {
      return true
    }
  }
  return { TokenSchema, Token }
}

/** The message of the error that a request causes. The response does not contain it. */
async function messageOf(
  t: TestContext,
  entities: object[],
  authenticator: AuthMiddleware,
  type: new () => object,
  authorization: string,
) {
  const orm = await MikroORM.init({ dbName: ':memory:', entities: entities as [] })
  t.after(() => orm.close())
  await orm.schema.create()
  const app = new Koa<object, AuthContext>()
  app.use(session({ signed: false }, app))
  app.use(databases(orm))
  app.use(auth())
  app.use(authenticator)
  app.use(guard(type))
  const { url, errors } = await serve(t, app)
  const response = await fetch(url, { headers: { authorization } })
  assert.deepEqual([response.status, await response.text()], [500, 'Internal Server Error'])
  return errors[0]?.message
}

describe('a model that MikroORM does not know', () => {
  const basic = `Basic ${btoa('ada:secret')}`

  test('is reported with the missing line: `setClass`', async (t) => {
    const { UserSchema, User } = users()
    assert.equal(
      await messageOf(t, [UserSchema], User.authenticator(), User, basic),
      'Call `UserSchema.setClass(User)`.',
    )
  })

  test('is reported with the missing line: `setClass` of a token', async (t) => {
    const { UserSchema, User } = users()
    UserSchema.setClass(User)
    const { TokenSchema, Token } = tokens(User)
    assert.equal(
      await messageOf(t, [User, TokenSchema], Token.authenticator(), Token, 'Bearer x'),
      'Call `TokenSchema.setClass(Token)`.',
    )
  })

  test('is reported with the missing line: `entities`', async (t) => {
    const { UserSchema, User } = users()
    UserSchema.setClass(User)
    const OtherSchema = defineEntity({ name: 'Other', properties })
    assert.equal(
      await messageOf(t, [OtherSchema], User.authenticator(), User, basic),
      'Add User to the `entities` of MikroORM.',
    )
  })
})

describe('an authenticator of a model', () => {
  test('is reported if it is mounted without parentheses', async (t) => {
    const { UserSchema, User } = users()
    UserSchema.setClass(User)
    const { Token } = tokens(User)
    for (const [mounted, call] of [
      [User.authenticator, 'User.authenticator()'],
      [User.credentialsAuthenticator, 'User.credentialsAuthenticator()'],
      [User.sessionAuthenticator, 'User.sessionAuthenticator()'],
      [Token.authenticator, 'UserToken.authenticator()'],
    ] as const) {
      const app = new Koa()
      app.use(auth())
      app.use(mounted as unknown as AuthMiddleware)
      const { url, errors } = await serve(t, app)
      assert.equal((await fetch(url)).status, 500)
      assert.equal(errors[0]?.message, `Call \`${call}\`, with parentheses.`)
    }
  })
})
