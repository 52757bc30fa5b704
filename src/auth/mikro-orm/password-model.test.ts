import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { defineEntity, type MikroORM, p } from '@mikro-orm/core'
import Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import { type AuthContext, auth } from '../auth.ts'
import type { Class } from '../checks.ts'
import type { PasswordCredentials } from '../credentials.ts'
import { guard } from '../guard.ts'
import { openORM } from '../testing/open-orm.ts'
import { serve } from '../testing/serve.ts'
import { serveGuarded } from '../testing/serve-guarded.ts'
import { databases, entityManager } from './databases.ts'
import { ModelCredentialsAuthenticatable } from './index.ts'
import { ModelAuthenticatable } from './password-model.ts'

const properties = {
  id: p
    .uuid()
    .primary()
    .onCreate(() => crypto.randomUUID()),
  email: p.string().unique(),
  passwordHash: p.string().hidden(),
}

/** A user model whose hash is the reversed password. `columns` and `options` extend its schema. */
function users(columns: object = {}, options: object = {}) {
  const dummyPasswords: string[] = []
  const UserSchema = defineEntity({ name: 'User', properties: { ...properties, ...columns }, ...options })
  class User extends ModelAuthenticatable(UserSchema.class, {
    username: 'email',
    passwordHash: 'passwordHash',
  }) {
    static override verifyNobody(password: string): void {
      dummyPasswords.push(password)
    }

    async verify(password: string): Promise<boolean> {
      return this.passwordHash === [...password].reverse().join('')
    }
  }
  UserSchema.setClass(User)
  return { User, dummyPasswords }
}

const ada = { id: crypto.randomUUID(), email: 'ada@example.org', passwordHash: 'terces' }

/** An ORM with Ada. */
async function open(t: TestContext, columns: object = {}, options: object = {}) {
  const { User, dummyPasswords } = users(columns, options)
  const { orm, statements } = await openORM(t, User)
  await orm.em.fork().insert(User, ada)
  return { User, dummyPasswords, orm, statements }
}

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })

function post(url: string, body: unknown): Promise<Response> {
  const isForm = typeof body === 'string'
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
  const text = isForm ? body : JSON.stringify(body)
  return fetch(url, { method: 'POST', headers: { 'content-type': type }, body: text })
}

/** Serves an application that authenticates users by Basic header, form and JSON. */
function serveBoth(
  t: TestContext,
  orm: MikroORM,
  User: Class & Pick<ReturnType<typeof users>['User'], 'authenticator' | 'credentialsAuthenticator'>,
) {
  const app = new Koa<object, AuthContext>()
  app.use(databases(orm))
  app.use(auth())
  app.use(bodyParser())
  app.use(User.authenticator())
  app.use(User.credentialsAuthenticator())
  app.use(guard(User))
  app.use((ctx) => {
    ctx.body = 'in'
  })
  return serve(t, app)
}

// None of these is Ada's user name, although a database may consider some of them equal to it.
const otherNames = [
  'Ada@example.org',
  ' ada@example.org',
  'ada@example.or',
  'ada%',
  '',
  "' or 1=1 --",
  'null',
]

describe('ModelAuthenticatable', () => {
  test('S10 S54 S78 accepts only the right name and password of a Basic header', async (t) => {
    const { User, orm } = await open(t)
    const { url } = await serveGuarded(t, orm, User.authenticator(), User)

    const response = await fetch(url, { headers: basic('ada@example.org:secret') })
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), { id: ada.id, email: ada.email })

    for (const password of ['Secret', 'secret ', 'secre', 'terces', '', 'secret\u0301']) {
      const refused = await fetch(url, { headers: basic(`ada@example.org:${password}`) })
      assert.equal(refused.status, 401, password)
      assert.match(refused.headers.get('www-authenticate') ?? '', /^Basic realm="/)
    }
    for (const name of otherNames) {
      assert.equal((await fetch(url, { headers: basic(`${name}:secret`) })).status, 401, name)
    }
    assert.equal((await fetch(url)).status, 401)
  })

  test('loads a lazy hash', async (t) => {
    const { User, orm } = await open(t, { passwordHash: p.string().hidden().lazy() })
    const { url } = await serveGuarded(t, orm, User.authenticator(), User)

    const response = await fetch(url, { headers: basic('ada@example.org:secret') })
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), { id: ada.id, email: ada.email })
    assert.equal((await fetch(url, { headers: basic('ada@example.org:terces') })).status, 401)
  })

  test('S12 S59 S79 accepts only the right name and password of a form or JSON', async (t) => {
    const { User, orm } = await open(t)
    const { url } = await serveBoth(t, orm, User)

    assert.equal((await post(url, 'username=ada@example.org&password=secret')).status, 200)
    assert.equal((await post(url, { username: ada.email, password: 'secret' })).status, 200)
    assert.equal((await post(url, { username: ada.email, password: 'wrong' })).status, 401)
    for (const username of otherNames) {
      assert.equal((await post(url, { username, password: 'secret' })).status, 401, username)
    }
  })

  test('S72 compares the user name exactly, even if the column is case-insensitive', async (t) => {
    const { User, dummyPasswords, orm } = await open(t, { email: p.string().unique().collation('NOCASE') })
    const { url } = await serveGuarded(t, orm, User.authenticator(), User)

    assert.equal((await fetch(url, { headers: basic('Ada@example.org:secret') })).status, 401)
    assert.deepEqual(dummyPasswords, ['secret'])
    assert.equal((await fetch(url, { headers: basic('ada@example.org:secret') })).status, 200)
  })

  test('responds with 401 for a user hidden by a filter, even if the request has already loaded the user without filters', async (t) => {
    const filters = { enabled: { name: 'enabled', cond: { isDisabled: false }, default: true } }
    const { User } = users({ isDisabled: p.boolean() }, { filters })
    const { orm } = await openORM(t, User)
    const disabled = { ...ada, isDisabled: true }
    await orm.em.fork().insert(User, disabled)
    const app = new Koa<object, AuthContext>()
    app.use(databases(orm))
    app.use(auth())
    app.use(async (ctx, next) => {
      assert.equal((await entityManager(ctx).find(User, {}, { filters: false })).length, 1)
      await next()
    })
    app.use(User.authenticator())
    app.use(guard(User))
    const { url } = await serve(t, app)
    assert.equal((await fetch(url, { headers: basic('ada@example.org:secret') })).status, 401)
  })

  test('K2 K3 makes no query for a user name or password that is not a string, or for a user name with a NUL', async (t) => {
    const { User, dummyPasswords, orm, statements } = await open(t)
    statements.splice(0)
    const { url } = await serveBoth(t, orm, User)

    for (const username of [
      {},
      { $ne: '' },
      { $like: '%' },
      { email: ada.email },
      [],
      [ada.email],
      null,
      1,
      true,
    ]) {
      assert.equal((await post(url, { username, password: 'secret' })).status, 401)
      assert.equal((await post(url, { username: ada.email, password: username })).status, 401)
    }
    for (const field of ['username[$ne]', 'username[]', 'username[email]', 'username=x&username']) {
      assert.equal((await post(url, `${field}=ada@example.org&password=secret`)).status, 401)
    }
    assert.equal((await post(url, { username: `ada@example.org\0`, password: 'secret' })).status, 401)
    assert.equal((await fetch(url, { headers: basic('ada@example.org\0:secret') })).status, 401)

    assert.deepEqual([statements, dummyPasswords], [[], []])
  })

  test("calls the model's verifyNobody only for an unknown user", async (t) => {
    const { User, dummyPasswords, orm } = await open(t)
    const { url } = await serveBoth(t, orm, User)

    await fetch(url, { headers: basic('ada@example.org:secret') })
    await fetch(url, { headers: basic('ada@example.org:wrong') })
    await post(url, { username: ada.email, password: 'wrong' })
    await fetch(url)
    assert.deepEqual(dummyPasswords, [])

    await fetch(url, { headers: basic('eve@example.org:by header') })
    await post(url, { username: 'eve@example.org', password: 'by form' })
    assert.deepEqual(dummyPasswords, ['by header', 'by form'])
  })

  test('verifies the password of an unknown user with a hash that the process knows, not with the entity of another user', async (t) => {
    const UserSchema = defineEntity({ name: 'User', properties })
    const verified: [password: string, hash: string, email: string | undefined][] = []
    class User extends ModelAuthenticatable(UserSchema.class, {
      username: 'email',
      passwordHash: 'passwordHash',
    }) {
      async verify(password: string): Promise<boolean> {
        verified.push([password, this.passwordHash, this.email])
        return this.passwordHash === [...password].reverse().join('')
      }
    }
    UserSchema.setClass(User)
    const { orm, statements } = await openORM(t, User)
    const { url } = await serveGuarded(t, orm, User.authenticator(), User)
    const status = async (credentials: string) =>
      (await fetch(url, { headers: basic(`${credentials}`) })).status

    assert.equal(await status('eve@example.org:secret'), 401)
    assert.deepEqual(verified, [], 'there is no user yet')
    await orm.em.fork().insert(User, ada)
    for (const password of ['wrong', 'secret']) assert.equal(await status(`eve@example.org:${password}`), 401)
    assert.deepEqual(verified, [
      ['wrong', 'terces', undefined],
      ['secret', 'terces', undefined],
    ])
    statements.length = 0
    assert.equal(await status('eve@example.org:again'), 401)
    assert.equal(statements.length, 1)
    assert.equal(await status('ada@example.org:secret'), 200)
  })

  test('P9 omits the hash from the JSON even if the column is not hidden, unless the model has a toJSON', async (t) => {
    const shown = { ...properties, passwordHash: p.string() }
    const UserSchema = defineEntity({ name: 'User', properties: shown })
    class User extends ModelAuthenticatable(UserSchema.class, {
      username: 'email',
      passwordHash: 'passwordHash',
    }) {
      verify(): boolean {
        return true
      }
    }
    UserSchema.setClass(User)
    const NoteSchema = defineEntity({
      name: 'Note',
      properties: { id: p.integer().primary(), by: () => p.manyToOne(User) },
    })
    class Named extends UserSchema.class {
      toJSON() {
        return { name: 'somebody', hash: this.passwordHash }
      }
    }
    const { orm } = await openORM(t, User, NoteSchema as never)
    const em = orm.em.fork()
    const user = em.create(User, ada)
    const note = em.create(NoteSchema, { id: 1, by: user })
    await em.flush()
    const known = { id: ada.id, email: ada.email }
    assert.deepEqual(JSON.parse(JSON.stringify([user, note])), [known, { id: 1, by: known }])

    const { url } = await serveGuarded(t, orm, User.authenticator(), User)
    assert.deepEqual(await (await fetch(url, { headers: basic('ada@example.org:') })).json(), known)

    const Own = ModelAuthenticatable(Named, { username: 'email', passwordHash: 'passwordHash' })
    assert.equal(Own.prototype.toJSON, Named.prototype.toJSON)
  })

  test('lets a model override findByCredentials for both authenticators', async (t) => {
    const UserSchema = defineEntity({ name: 'User', properties })
    class User extends ModelAuthenticatable(UserSchema.class, {
      username: 'email',
      passwordHash: 'passwordHash',
    }) {
      static override async findByCredentials(credentials: PasswordCredentials, ctx: AuthContext) {
        if (credentials.password === 'throttled') ctx.throw(429)
        return super.findByCredentials(credentials, ctx)
      }

      verify(password: string): boolean {
        return password === 'secret'
      }
    }
    UserSchema.setClass(User)
    const { orm } = await openORM(t, User)
    await orm.em.fork().insert(User, ada)
    const { url } = await serveBoth(t, orm, User)
    const both = async (password: string) => [
      (await fetch(url, { headers: basic(`${ada.email}:${password}`) })).status,
      (await post(url, { username: ada.email, password })).status,
    ]

    assert.deepEqual(await both('secret'), [200, 200])
    assert.deepEqual(await both('wrong'), [401, 401])
    assert.deepEqual(await both('throttled'), [429, 429])
  })

  test('rejects a result of verify that is not a boolean', async (t) => {
    for (const answer of [{ ok: false }, 'false', 1, undefined]) {
      const { User } = users()
      Object.assign(User.prototype, { verify: async () => answer })
      const { orm } = await openORM(t, User)
      await orm.em.fork().insert(User, ada)
      const { url, errors } = await serveGuarded(t, orm, User.authenticator(), User)

      assert.equal((await fetch(url, { headers: basic('ada@example.org:secret') })).status, 500)
      assert.match(errors[0]?.message ?? '', /^The result of `verify` must be `true` or `false`/)
    }
  })

  test('S78 reports a missing member of the model at startup', () => {
    const UserSchema = defineEntity({ name: 'User', properties })
    // @ts-expect-error: the compiler reports this error.
    class User extends ModelAuthenticatable(UserSchema.class, {
      username: 'email',
      passwordHash: 'passwordHash',
    }) {}
    const sentence = /^Misuse: User lacks `verify`, the method that checks a password\.$/

    assert.throws(() => User.authenticator(), sentence)
    assert.throws(() => User.credentialsAuthenticator(), sentence)
  })

  test('S12 exports an alias for form log-in', () => {
    assert.equal(ModelCredentialsAuthenticatable, ModelAuthenticatable)
  })
})
