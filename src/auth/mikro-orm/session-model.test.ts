import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { defineEntity, type EntityClass, type MikroORM, p } from '@mikro-orm/core'
import Koa from 'koa'
import session from 'koa-session'
import { type AuthContext, type AuthMiddleware, auth } from '../auth.ts'
import type { Class } from '../checks.ts'
import { Browser } from '../testing/browser.ts'
import { MemoryStore } from '../testing/memory-store.ts'
import { openORM } from '../testing/open-orm.ts'
import { serve } from '../testing/serve.ts'
import { type Databases, databases, entityManager } from './databases.ts'
import { ModelSessionAuthenticatable } from './session-model.ts'

interface SessionContext extends AuthContext {
  session: Record<string, unknown>
}

function users() {
  const UserSchema = defineEntity({
    name: 'User',
    properties: {
      id: p
        .uuid()
        .primary()
        .onCreate(() => crypto.randomUUID()),
      name: p.string(),
    },
  })
  class User extends ModelSessionAuthenticatable(UserSchema.class) {}
  UserSchema.setClass(User)
  return User
}

/**
 * An application with sessions. The query string is a JSON value. `/plant?…` stores it as the identifier in the session. `/log-in?…`
 * logs in the entity with this key or condition. `/` responds whether a user of the class is authenticated.
 */
async function serveSessions(
  t: TestContext,
  orm: MikroORM | Databases,
  type: Class & EntityClass<object>,
  authenticator: AuthMiddleware,
) {
  const store = new MemoryStore()
  const app = new Koa<object, SessionContext>()
  app.keys = ['a key for tests']
  app.use(session({ maxAge: 60_000, store }, app))
  app.use(databases(orm))
  app.use(auth())
  app.use(authenticator)
  app.use(async (ctx) => {
    const value = ctx.querystring && JSON.parse(decodeURIComponent(ctx.querystring))
    if (ctx.path === '/plant') ctx.session[type.name] = value
    if (ctx.path === '/log-in') ctx.auth.login(await entityManager(ctx).findOneOrFail(type, value))
    ctx.body = ctx.auth.has(type)
  })
  const { url, errors } = await serve(t, app)
  const browser = new Browser(url)
  const go = (path: string, value: unknown) =>
    browser.get(`${path}?${encodeURIComponent(JSON.stringify(value))}`)
  return {
    browser,
    store,
    errors,
    logIn: (key: unknown) => go('/log-in', key),
    /** Whether a session that contains this identifier authenticates a user. */
    async isSomebody(identifier: unknown): Promise<boolean> {
      await go('/plant', identifier)
      const response = await browser.get('/')
      assert.equal(response.status, 200, JSON.stringify(identifier))
      return (await response.json()) as boolean
    },
  }
}

describe('ModelSessionAuthenticatable', () => {
  test('S13 S81 stores the primary key in the session. The model needs no members of its own', async (t) => {
    const User = users()
    const { orm } = await openORM(t, User)
    const id = crypto.randomUUID()
    await orm.em.fork().insert(User, { id, name: 'Ada' })
    const { browser, store, logIn } = await serveSessions(t, orm, User, User.sessionAuthenticator())

    assert.equal(await (await browser.get('/')).text(), 'false')
    await logIn(id)
    assert.equal(await (await browser.get('/')).text(), 'true')
    assert.deepEqual(store.data, { User: id })
  })

  test('ignores the session of a deleted user, without an error', async (t) => {
    const User = users()
    const { orm } = await openORM(t, User)
    const id = crypto.randomUUID()
    await orm.em.fork().insert(User, { id, name: 'Ada' })
    const { browser, logIn } = await serveSessions(t, orm, User, User.sessionAuthenticator())
    await logIn(id)

    await orm.em.fork().nativeDelete(User, id)

    const response = await browser.get('/')
    assert.deepEqual([response.status, await response.text()], [200, 'false'])
  })

  test('does not query the database for a malformed key', async (t) => {
    const User = users()
    const { orm, statements } = await openORM(t, User)
    const id = crypto.randomUUID()
    await orm.em.fork().insert(User, { id, name: 'Ada' })
    const { isSomebody } = await serveSessions(t, orm, User, User.sessionAuthenticator())
    assert.equal(await isSomebody(id), true)
    assert.equal(await isSomebody('ada'), false)
    statements.splice(0)

    for (const identifier of [
      ...['', ' ', '1', 'ada', 'undefined', 'null', '__proto__', "' or 1=1 --", '\0', `${id}\0`, `${id}\n`],
      ...[
        ` ${id}`,
        `${id} `,
        `{${id}}`,
        id.replaceAll('-', ''),
        id.slice(1),
        `${id}0`,
        id.replace(/.$/, 'g'),
      ],
      ...[1, true, null, [], [id], {}, { id }, { $ne: '' }],
    ]) {
      assert.equal(await isSomebody(identifier), false, JSON.stringify(identifier))
    }
    assert.deepEqual(statements, [])

    assert.equal(await isSomebody(crypto.randomUUID()), false)
    assert.equal(statements.length, 1)
  })

  test('S81 uses the named database', async (t) => {
    const User = users()
    const main = await openORM(t, User)
    const archive = await openORM(t, User)
    const id = crypto.randomUUID()
    await archive.orm.em.fork().insert(User, { id, name: 'Ada' })
    const both = { default: main.orm, archive: archive.orm }
    const inArchive = await serveSessions(t, both, User, User.sessionAuthenticator({ database: 'archive' }))
    const inMain = await serveSessions(t, both, User, User.sessionAuthenticator())

    assert.equal(await inArchive.isSomebody(id), true)
    assert.equal(await inMain.isSomebody(id), false)
  })

  test('adds `sessionID` neither to the JSON of an entity nor to the required properties of `em.create`', async (t) => {
    const User = users()
    const { orm } = await openORM(t, User)
    const em = orm.em.fork()

    const user = em.create(User, { name: 'Ada' })
    await em.flush()

    assert.deepEqual(JSON.parse(JSON.stringify(user)), { id: user.id, name: 'Ada' })
    assert.equal(user.sessionID, user.id)
  })

  test('rejects a model with a composite primary key', async (t) => {
    const SeatSchema = defineEntity({
      name: 'Seat',
      properties: {
        row: p.integer().primary(),
        place: p.integer().primary(),
      },
    })
    class Seat extends ModelSessionAuthenticatable(SeatSchema.class) {}
    SeatSchema.setClass(Seat)
    const { orm } = await openORM(t, Seat)
    const { browser, errors, store } = await serveSessions(t, orm, Seat, Seat.sessionAuthenticator())
    await browser.get(`/plant?${encodeURIComponent('"1"')}`)

    assert.deepEqual(store.data, { Seat: '1' })
    assert.equal((await browser.get('/')).status, 500)
    assert.equal(errors[0]?.message, 'Seat needs one primary key that is a string or a number.')

    await orm.em.fork().insert(Seat, { row: 1, place: 2 })
    browser.cookie = ''
    assert.equal((await browser.get(`/log-in?${encodeURIComponent('{"row":1,"place":2}')}`)).status, 500)
    assert.equal(errors[1]?.message, 'Seat needs one primary key that is a string or a number.')
  })
})
