import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { defineEntity, type MikroORM, p } from '@mikro-orm/core'
import Koa from 'koa'
import { type AuthContext, auth } from '../auth.ts'
import { guard } from '../guard.ts'
import { openORM } from '../testing/open-orm.ts'
import { serve } from '../testing/serve.ts'
import { serveGuarded } from '../testing/serve-guarded.ts'
import { databases, entityManager } from './databases.ts'
import { LastUses } from './last-uses.ts'
import { ModelAuthenticatable } from './password-model.ts'
import { generateToken, ModelTokenAuthenticatable } from './token-model.ts'

const id = () =>
  p
    .uuid()
    .primary()
    .onCreate(() => crypto.randomUUID())

function users() {
  const UserSchema = defineEntity({
    name: 'User',
    properties: { id: id(), name: p.string(), passwordHash: p.string() },
  })
  class User extends ModelAuthenticatable(UserSchema.class, {
    username: 'name',
    passwordHash: 'passwordHash',
  }) {
    verify(password: string): boolean {
      return password === this.passwordHash
    }
  }
  UserSchema.setClass(User)
  return User
}

/** A user model and a token model. Tokens whose value begins with `old` are invalid. */
function usersWithTokens() {
  const User = users()
  const TokenSchema = defineEntity({
    name: 'Token',
    properties: {
      id: id(),
      value: p.string().unique(),
      user: () => p.manyToOne(User).deleteRule('cascade'),
      usedAt: p.datetime().nullable().hidden(),
    },
  })
  class Token extends ModelTokenAuthenticatable(TokenSchema.class, { value: 'value', user: 'user' }) {
    get isValid(): boolean {
      return !this.value.startsWith('old')
    }
  }
  TokenSchema.setClass(Token)
  return { User, Token }
}

const ada = { id: crypto.randomUUID(), name: 'Ada', passwordHash: 'secret' }
const tokenOf = (user: { id: string }, value: string) => ({ id: crypto.randomUUID(), value, user: user.id })

/** An ORM with Ada and tokens of hers with these values. */
async function open(t: TestContext, ...values: string[]) {
  const { User, Token } = usersWithTokens()
  const { orm, statements } = await openORM(t, User, Token)
  await orm.em.fork().insert(User, ada)
  for (const value of values) await orm.em.fork().insert(Token, tokenOf(ada, value))
  return { User, Token, orm, statements }
}

/** Serves what `answer` returns, also to requests without a user. */
function serveAnswer(
  t: TestContext,
  orm: MikroORM,
  authenticator: Koa.Middleware,
  answer: (ctx: AuthContext) => unknown,
) {
  const app = new Koa<object, AuthContext>()
  app.use(databases(orm))
  app.use(auth())
  app.use(authenticator)
  app.use(async (ctx) => {
    ctx.body = await answer(ctx)
  })
  return serve(t, app)
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

describe('ModelTokenAuthenticatable', () => {
  test('S11 S80 accepts only a stored token', async (t) => {
    const { User, Token, orm } = await open(t, 'right==')
    const { url } = await serveGuarded(t, orm, Token.authenticator(), User)

    const response = await fetch(url, bearer('right=='))
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), { id: ada.id, name: 'Ada' })

    for (const wrong of ['wrong', 'Right==', 'right', 'right=', 'r', '%', 'undefined', ada.id, ada.name]) {
      const refused = await fetch(url, bearer(wrong))
      assert.equal(refused.status, 401, wrong)
      assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer realm="/)
    }
    assert.equal((await fetch(url, bearer(''))).status, 401)
    assert.equal((await fetch(url, { headers: { authorization: `Basic ${btoa('right==:')}` } })).status, 401)
    assert.equal((await fetch(`${url}/?access_token=right==`)).status, 401)
    assert.equal((await fetch(url)).status, 401)
  })

  test('notes the use of a valid token, if `databases` has its `lastUses`', async (t) => {
    const { User, Token } = usersWithTokens()
    const { orm } = await openORM(t, User, Token)
    await orm.em.fork().insert(User, ada)
    for (const value of ['used', 'unused']) await orm.em.fork().insert(Token, tokenOf(ada, value))
    const uses = new LastUses(orm, Token, 'usedAt', { onError: (error) => assert.fail(String(error)) })
    const app = new Koa()
    app.use(databases(orm, { lastUses: [uses] }))
    app.use(auth())
    app.use(Token.authenticator())
    app.use(guard(User))
    const { url } = await serve(t, app)

    await fetch(url, bearer('used'))
    await uses.write()

    const tokens = await orm.em.fork().find(Token, {})
    assert.deepEqual(
      tokens.filter(({ usedAt }) => usedAt).map(({ value }) => value),
      ['used'],
    )
  })

  test('S76 logs in the token and its loaded user', async (t) => {
    const { User, Token, orm } = await open(t, 'right')
    const { url } = await serveAnswer(t, orm, Token.authenticator(), async (ctx) => {
      const user = ctx.auth.require(User)
      const same = user === (await entityManager(ctx).findOneOrFail(User, ada.id))
      return [ctx.auth.require(Token).value, user instanceof User, user.sessionID === ada.id, same]
    })

    assert.deepEqual(await (await fetch(url, bearer('right'))).json(), ['right', true, true, true])
  })

  test('P9 omits the stored value from the JSON, unless the model has a toJSON', async (t) => {
    const { User, Token } = usersWithTokens()
    const NoteSchema = defineEntity({
      name: 'Note',
      properties: { id: p.integer().primary(), token: () => p.manyToOne(Token).ref() },
    })
    const { orm } = await openORM(t, User, Token, NoteSchema as never)
    await orm.em.fork().insert(User, ada)
    const token = tokenOf(ada, 'canary')
    await orm.em.fork().insert(Token, token)
    await orm.em.fork().insert(NoteSchema, { id: 1, token: token.id })
    const known = { id: token.id, user: { id: ada.id, name: 'Ada' } }
    const note = await orm.em
      .fork()
      .findOneOrFail(NoteSchema, 1, { populate: ['token.user'] as never, strategy: 'joined' })
    assert.deepEqual(JSON.parse(JSON.stringify([note])), [{ id: 1, token: known }])

    const { url } = await serveAnswer(t, orm, Token.authenticator(), (ctx) => ctx.auth.require(Token))
    assert.deepEqual(await (await fetch(url, bearer('canary'))).json(), known)

    class Named {
      declare value: string
      declare user: object
      toJSON() {
        return { value: this.value }
      }
    }
    const Own = ModelTokenAuthenticatable(Named, { value: 'value', user: 'user' })
    assert.equal(Own.prototype.toJSON, Named.prototype.toJSON)
  })

  test('S49 S76 rejects and deletes an invalid token', async (t) => {
    const { User, Token, orm } = await open(t, 'old', 'older', 'right')
    const { url } = await serveAnswer(t, orm, Token.authenticator(), (ctx) => [
      ctx.auth.has(Token),
      ctx.auth.has(User),
    ])

    assert.deepEqual(await (await fetch(url, bearer('old'))).json(), [false, false])

    const left = await orm.em.fork().findAll(Token, { orderBy: { value: 'asc' } })
    assert.deepEqual(
      left.map(({ value }) => value),
      ['older', 'right'],
    )
    assert.equal(await orm.em.fork().count(User), 1)
    assert.deepEqual(await (await fetch(url, bearer('old'))).json(), [false, false])
  })

  test('reports an `isValid` that is not a boolean', async (t) => {
    for (const wrong of [
      { isValid: { value: () => false } },
      { isValid: { get: async () => false } },
      { isValid: { get: () => 'false' } },
    ]) {
      const { User, Token, orm } = await open(t, 'old')
      Object.defineProperties(Token.prototype, wrong as PropertyDescriptorMap)
      const { url, errors } = await serveGuarded(t, orm, Token.authenticator(), User)

      assert.equal((await fetch(url, bearer('old'))).status, 500)
      assert.match(errors[0]?.message ?? '', /^`isValid` must be `true` or `false`/)
    }
  })

  test('reports a `stored` that returns an object, such as a promise', async (t) => {
    for (const stored of [
      () => ({}),
      (token: string) => JSON.parse(atob(token)),
      async (token: string) => token,
    ]) {
      const { User, Token, orm } = await open(t, 'right==')
      Object.assign(Token, { stored })
      const { url, errors } = await serveGuarded(t, orm, Token.authenticator(), User)

      assert.equal((await fetch(url, bearer(btoa('{"$ne":""}')))).status, 500)
      assert.match(errors[0]?.message ?? '', /^Look up a string or a number/)
    }
  })

  test('M3 responds with 401 to ten concurrent uses of an invalid token, and deletes the token', async (t) => {
    const { User, Token, orm, statements } = await open(t, 'old', 'right')
    const { url } = await serveGuarded(t, orm, Token.authenticator(), User)

    const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(url, bearer('old'))))

    for (const { status } of answers) assert.equal(status, 401)
    const deletes = statements.filter((each) => each.includes('delete from'))
    assert.ok(deletes.length >= 1)
    assert.equal(await orm.em.fork().count(Token), 1)
    assert.equal((await fetch(url, bearer('right'))).status, 200)
  })

  test('accepts a column as `isValid`, even if the authenticator is created before the ORM', async (t) => {
    const User = users()
    const TokenSchema = defineEntity({
      name: 'Token',
      properties: { id: id(), value: p.string(), isValid: p.boolean(), user: () => p.manyToOne(User) },
    })
    class Token extends ModelTokenAuthenticatable(TokenSchema.class, { value: 'value', user: 'user' }) {}
    TokenSchema.setClass(Token)
    const authenticator = Token.authenticator()
    const { orm } = await openORM(t, User, Token)
    await orm.em.fork().insert(User, ada)
    await orm.em.fork().insert(Token, { ...tokenOf(ada, 'good'), isValid: true })
    await orm.em.fork().insert(Token, { ...tokenOf(ada, 'bad'), isValid: false })
    const { url } = await serveGuarded(t, orm, authenticator, User)

    assert.equal((await fetch(url, bearer('good'))).status, 200)
    assert.equal((await fetch(url, bearer('bad'))).status, 401)
    assert.equal(await orm.em.fork().count(Token), 1)
  })

  test('looks up the value that `stored` returns, and makes no query for `undefined`', async (t) => {
    const User = users()
    const TokenSchema = defineEntity({
      name: 'Token',
      properties: { id: id(), digest: p.string().unique(), owner: () => p.manyToOne(User) },
    })
    class Token extends ModelTokenAuthenticatable(TokenSchema.class, { value: 'digest', user: 'owner' }) {
      static override stored(token: string): string | undefined {
        return token.startsWith('ours_') ? hash('sha256', token) : undefined
      }

      get isValid(): boolean {
        return true
      }
    }
    TokenSchema.setClass(Token)
    const { orm, statements } = await openORM(t, User, Token)
    await orm.em.fork().insert(User, ada)
    const digest = hash('sha256', 'ours_right')
    await orm.em.fork().insert(Token, { id: crypto.randomUUID(), digest, owner: ada.id })
    const { url } = await serveGuarded(t, orm, Token.authenticator(), User)
    statements.splice(0)

    for (const token of ['theirs', digest, 'Ours_right'])
      assert.equal((await fetch(url, bearer(token))).status, 401)
    assert.deepEqual(statements, [])

    assert.equal((await fetch(url, bearer('ours_wrong'))).status, 401)
    assert.equal(statements.length, 1)
    assert.equal((await fetch(url, bearer('ours_right'))).status, 200)
  })

  test('rejects a token whose user is missing or hidden by a filter', async (t) => {
    const UserSchema = defineEntity({
      name: 'User',
      properties: { id: id(), disabled: p.boolean() },
      filters: { enabled: { name: 'enabled', cond: { disabled: false }, default: true } },
    })
    class User extends UserSchema.class {}
    UserSchema.setClass(User)
    const TokenSchema = defineEntity({
      name: 'Token',
      properties: {
        id: id(),
        value: p.string(),
        user: () => p.manyToOne(User).nullable().createForeignKeyConstraint(false),
      },
    })
    class Token extends ModelTokenAuthenticatable(TokenSchema.class, { value: 'value', user: 'user' }) {
      get isValid(): boolean {
        return true
      }
    }
    TokenSchema.setClass(Token)
    const { orm } = await openORM(t, User, Token)
    const [enabled, disabled] = [{ id: crypto.randomUUID() }, { id: crypto.randomUUID() }]
    await orm.em.fork().insert(User, { ...enabled, disabled: false })
    await orm.em.fork().insert(User, { ...disabled, disabled: true })
    await orm.em
      .fork()
      .insertMany(Token, [
        tokenOf(enabled, 'enabled'),
        tokenOf(disabled, 'disabled'),
        tokenOf({ id: crypto.randomUUID() }, 'gone'),
        { id: crypto.randomUUID(), value: 'none', user: null },
      ])
    const { url } = await serveAnswer(t, orm, Token.authenticator(), (ctx) => [
      ctx.auth.has(Token),
      ctx.auth.has(User),
    ])

    assert.deepEqual(await (await fetch(url, bearer('enabled'))).json(), [true, true])
    for (const token of ['disabled', 'gone', 'none']) {
      const response = await fetch(url, bearer(token))
      assert.deepEqual([response.status, await response.json()], [200, [false, false]], token)
    }
  })

  test('responds with 503 if the table is missing, without the message of the database', async (t) => {
    const { User, Token } = usersWithTokens()
    const { orm } = await openORM(t, User, Token)
    const { url } = await serveGuarded(t, orm, Token.authenticator(), User)
    await orm.schema.drop()

    const response = await fetch(url, bearer('canary'))

    assert.equal(response.status, 503)
    assert.match(response.headers.get('retry-after') ?? '', /^\d+$/)
    assert.doesNotMatch(await response.text(), /select|table|canary/i)
    assert.equal((await fetch(url)).status, 401)
  })

  test('S32 reports a missing member of the model at startup', () => {
    const TokenSchema = defineEntity({
      name: 'Token',
      properties: { id: id(), value: p.string(), user: p.string() },
    })
    // @ts-expect-error: the compiler reports this error.
    class Token extends ModelTokenAuthenticatable(TokenSchema.class, { value: 'value', user: 'user' }) {}

    assert.throws(
      () => Token.authenticator(),
      /^Misuse: Token lacks `isValid`, the property for the validity of the token\.$/,
    )
  })

  test('S80 reports a property for the user that is not a relation', async (t) => {
    const TokenSchema = defineEntity({
      name: 'Token',
      properties: { id: id(), value: p.string(), user: p.string() },
    })
    class Token extends ModelTokenAuthenticatable(TokenSchema.class, { value: 'value', user: 'user' }) {
      get isValid(): boolean {
        return true
      }
    }
    TokenSchema.setClass(Token)
    const { orm } = await openORM(t, Token)
    const { url, errors } = await serveAnswer(t, orm, Token.authenticator(), () => 'reached')

    assert.equal((await fetch(url)).status, 500)
    assert.equal(errors[0]?.message, '`user` of Token must be a relation to its user.')
  })
})

describe('generateToken', () => {
  test('S77 returns 16 random bytes in base64, or the given number of bytes', () => {
    assert.equal(Buffer.from(generateToken(), 'base64').length, 16)
    assert.match(generateToken(), /^[\w+/]{22}==$/)
    assert.equal(Buffer.from(generateToken(32), 'base64').length, 32)
  })
})
