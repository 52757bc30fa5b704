import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import session from 'koa-session'
import { type AuthContext, auth } from './auth.ts'
import type { BearerAuthorization } from './authorization.ts'
import { BearerAuthenticator } from './bearer.ts'
import { CredentialsAuthenticator, type PasswordCredentials } from './credentials.ts'
import { guard } from './guard.ts'
import { SessionAuthenticator } from './session.ts'
import { Browser } from './testing/browser.ts'
import { MemoryStore } from './testing/memory-store.ts'
import { serve } from './testing/serve.ts'

interface SessionContext extends AuthContext {
  session: Record<string, unknown> | null
}

/** A user class, its users and their authenticators. */
function people(...names: string[]) {
  class User {
    readonly sessionID: string
    constructor(name: string) {
      this.sessionID = name
    }
  }
  const known = new Map(names.map((name) => [name, new User(name)]))
  const lookedUp: string[] = []
  class FromSession extends SessionAuthenticator<User> {
    readonly user = User
    override authenticate(sessionID: string, ctx: AuthContext) {
      lookedUp.push(sessionID)
      const user = known.get(sessionID)
      if (user) ctx.auth.login(user)
    }
  }
  class ByForm extends CredentialsAuthenticator<User> {
    readonly user = User
    override async authenticate({ username, password }: PasswordCredentials, ctx: AuthContext) {
      const user = known.get(username)
      if (user && password === 'secret') ctx.auth.login(user)
    }
  }
  class ByToken extends BearerAuthenticator<User> {
    readonly user = User
    override async authenticate({ token }: BearerAuthorization, ctx: AuthContext) {
      const user = known.get(token)
      if (user) ctx.auth.login(user)
    }
  }
  /** Logs in the user that the query names, as a sign-up does. */
  const byHandler = (ctx: AuthContext) => {
    const user = known.get(String(ctx.query.as))
    if (user) ctx.auth.login(user)
  }
  return { User, known, lookedUp, FromSession, ByForm, ByToken, byHandler }
}

/** An application with a session and an empty `ctx.auth`. Without a store, the session is in the cookie. */
function appWith(store?: MemoryStore) {
  const app = new Koa<object, SessionContext>()
  app.keys = ['a key for tests']
  app.use(session({ maxAge: 60_000, ...(store && { store }) }, app))
  app.use(bodyParser())
  app.use(auth())
  return app
}

const form = (username: string, password = 'secret') => ({ username, password })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

interface Options {
  readonly store?: MemoryStore | undefined
  readonly remember?: 'authenticated' | 'signed-in'
  readonly isSessionLast?: boolean
  readonly act?: (ctx: SessionContext, kind: ReturnType<typeof people>) => unknown
}

/**
 * A site of `ada` and `bob` that shows the name of the user. `?as=` signs in, `/logout` signs out, `/visit` fills a cart, and `/guarded`
 * needs a user.
 */
async function start(
  t: TestContext,
  { isSessionLast = false, act = () => {}, remember, ...options }: Options = {},
) {
  const store = 'store' in options ? options.store : new MemoryStore()
  const kind = people('ada', 'bob')
  const app = appWith(store)
  const session = new kind.FromSession(remember ? { remember } : {}).middleware()
  if (!isSessionLast) app.use(session)
  app.use(new kind.ByForm().middleware())
  if (isSessionLast) app.use(session)
  app.use(new kind.ByToken().middleware())
  app.use((ctx, next) => (ctx.path === '/guarded' ? guard(kind.User)(ctx, next) : next()))
  app.use(async (ctx) => {
    if (ctx.path === '/visit' && ctx.session) Object.assign(ctx.session, { cart: ['a book'], isAdmin: true })
    if (ctx.path === '/logout') ctx.auth.logout(kind.User)
    kind.byHandler(ctx)
    await act(ctx, kind)
    ctx.body = ctx.auth.get(kind.User)?.sessionID ?? 'anonymous'
  })
  const { url, errors } = await serve(t, app)
  const me = async (client: Browser, path = '/', headers = {}) => (await client.get(path, headers)).text()
  const copyOf = (browser: Browser) => Object.assign(new Browser(url), { cookie: browser.cookie })
  return { ...kind, url, errors, browser: new Browser(url), store: store ?? new MemoryStore(), me, copyOf }
}

/** Two user types in one session. The query names who signs in and who signs out, and `/throw` fails afterwards. */
async function startTwoTypes(
  t: TestContext,
  { store, isAdminFirst }: { store?: MemoryStore; isAdminFirst?: boolean },
) {
  const [users, admins] = [people('ada', 'eve'), people('root')]
  const app = appWith(store)
  const chain = [new users.FromSession({ key: 'user' }), new admins.FromSession({ key: 'admin' })]
  if (isAdminFirst) chain.reverse()
  for (const each of chain) app.use(each.middleware())
  app.use((ctx) => {
    const { user, admin, out } = ctx.query
    if (String(out).includes('user')) ctx.auth.logout(users.User)
    if (String(out).includes('admin')) ctx.auth.logout(admins.User)
    for (const found of [users.known.get(String(user)), admins.known.get(String(admin))])
      if (found) ctx.auth.login(found)
    if (ctx.path === '/throw') throw new Error('the audit log is unavailable')
    ctx.body = `${ctx.auth.get(users.User)?.sessionID} ${ctx.auth.get(admins.User)?.sessionID}`
  })
  const { url } = await serve(t, app)
  const browser = new Browser(url)
  return { admins, browser, both: async (path = '/') => (await browser.get(path)).text() }
}

describe('SessionAuthenticator', () => {
  test('S1 S47 S87 stores a user at sign-in, restores the user before the handler, and removes the user at sign-out', async (t) => {
    for (const store of [new MemoryStore(), undefined]) {
      const { url, browser, me } = await start(t, { store })
      assert.equal(await me(browser), 'anonymous')
      assert.equal(browser.cookie, '')
      for (const name of ['ada', 'bob']) {
        await browser.post('/', form(name))
        assert.deepEqual([await me(browser), await me(browser)], [name, name])
        assert.equal(await me(new Browser(url)), 'anonymous')
      }
      await browser.post('/logout')
      assert.equal(browser.cookie, '')
      assert.equal(await me(browser), 'anonymous')
    }
  })

  test('S50 stores every authenticated user, including the user of a bearer token', async (t) => {
    const { browser, store, me } = await start(t)
    for (const headers of [{}, bearer('eve')])
      assert.equal((await browser.get('/guarded', headers)).status, 401)
    assert.deepEqual([browser.cookie, store.ids], ['', []])

    assert.equal(await me(browser, '/guarded', bearer('ada')), 'ada')
    const { cookie } = browser
    assert.equal(await me(browser, '/guarded'), 'ada')

    // The same user keeps the session. Another user starts a new one.
    await browser.get('/', bearer('ada'))
    assert.equal(browser.cookie, cookie)
    assert.equal(await me(browser, '/', bearer('bob')), 'bob')
    assert.notEqual(browser.cookie, cookie)
    assert.equal(await me(browser), 'bob')
    assert.equal(store.ids.length, 1)
  })

  test('with `remember: "signed-in"`, stores a sign-in by a form or a handler, but not by a bearer token', async (t) => {
    const { browser, store, me } = await start(t, { remember: 'signed-in' })
    assert.equal(await me(browser, '/', bearer('ada')), 'ada')
    assert.deepEqual([browser.cookie, store.ids], ['', []])

    await browser.post('/', form('ada'))
    assert.equal(await me(browser), 'ada')

    // The token of another user does not change the session.
    const { cookie } = browser
    assert.equal(await me(browser, '/', bearer('bob')), 'bob')
    assert.equal(browser.cookie, cookie)
    assert.equal(await me(browser), 'ada')

    await me(browser, '/?as=bob')
    assert.equal(await me(browser), 'bob')
  })

  test('S88 works after the form authenticator too', async (t) => {
    for (const remember of ['authenticated', 'signed-in'] as const) {
      const { browser, me } = await start(t, { remember, isSessionLast: true })
      for (const name of ['ada', 'bob']) {
        await browser.post('/', form(name))
        assert.equal(await me(browser), name)
      }
      await browser.get('/?as=ada')
      assert.equal(await me(browser), 'ada')
    }
  })

  test('writes nothing for a visitor or for a request that changes nothing', async (t) => {
    const { browser, store } = await start(t)
    for (const response of [await browser.get('/'), await browser.post('/', form('ada', 'wrong'))])
      assert.equal(response.headers.has('set-cookie'), false)
    assert.equal(store.writes, 0)

    await browser.post('/', form('ada'))
    const { writes } = store
    assert.equal((await browser.get('/')).headers.has('set-cookie'), false)
    assert.equal(store.writes, writes)
  })

  test('S9 S15 S86 stores only the identifier and the authentication, under the class name or the given key', async (t) => {
    for (const [options, key] of [
      [{}, 'User'],
      [{ key: 'member' }, 'member'],
    ] as const) {
      const { User, FromSession, ByForm } = people('ada')
      const store = new MemoryStore()
      const app = appWith(store)
      app.use(new FromSession(options).middleware())
      app.use(new ByForm().middleware())
      app.use(guard(User))
      const { url } = await serve(t, app)

      const before = Date.now()
      await new Browser(url).post('/', form('ada'))

      assert.deepEqual(store.data, { [key]: 'ada' })
      const record = store.records[`${key}:authenticated`] as { at: number; methods: string[] }
      assert.deepEqual(Object.keys(store.records), [`${key}:authenticated`])
      assert.deepEqual(record, { at: record.at, methods: ['pwd'] })
      assert.ok(record.at >= before && record.at <= Date.now())
    }
  })
})

describe('a sign-in', () => {
  test('E3 E4 changes the identifier and deletes the planted session with its data (session fixation)', async (t) => {
    for (const isSessionLast of [false, true]) {
      const { browser: attacker, store, me, copyOf } = await start(t, { isSessionLast })
      await attacker.get('/visit')
      const [planted] = store.ids
      const victim = copyOf(attacker)

      await victim.post('/', form('ada'))

      assert.equal(store.ids.length, 1)
      assert.notEqual(store.ids[0], planted)
      assert.deepEqual(store.data, { User: 'ada' })
      assert.deepEqual([await me(victim), await me(attacker)], ['ada', 'anonymous'])
    }
  })

  test("E18 deletes the first user's session data if another user signs in by form, handler or token", async (t) => {
    for (const logIn of [
      (browser: Browser) => browser.post('/', form('bob')),
      (browser: Browser) => browser.get('/?as=bob'),
      (browser: Browser) => browser.get('/', bearer('bob')),
    ]) {
      const { browser, store, me, copyOf } = await start(t)
      await browser.post('/', form('ada'))
      await browser.get('/visit')
      const old = copyOf(browser)
      assert.deepEqual(store.data, { User: 'ada', cart: ['a book'], isAdmin: true })
      assert.equal(await (await logIn(browser)).text(), 'bob')
      assert.deepEqual(store.data, { User: 'bob' })
      assert.equal(await me(old), 'anonymous')
    }
  })

  test('keeps only the data that the handler writes in the same request, before or after the sign-in', async (t) => {
    const { browser, store } = await start(t, {
      act: (ctx, { known }) => {
        if (ctx.path !== '/log-in' || !ctx.session) return
        const { cart } = ctx.session
        ctx.session.greeting = 'Hello.'
        if (ctx.method === 'GET') ctx.auth.login(known.get('ada') ?? {})
        ctx.session.cart = cart
      },
    })
    await browser.get('/visit')
    await browser.get('/log-in')
    assert.deepEqual(store.data, { User: 'ada', greeting: 'Hello.', cart: ['a book'] })
    await browser.post('/log-in', form('ada'))
    assert.equal(store.data.greeting, 'Hello.')
  })

  test('gets 401 for wrong credentials despite a valid session, which stays unchanged', async (t) => {
    const { browser, store, me } = await start(t)
    await browser.post('/', form('ada'))
    const { cookie } = browser
    const { writes } = store
    for (const wrong of [form('ada', 'wrong'), form('bob', 'wrong'), form('eve')])
      assert.equal((await browser.post('/guarded', wrong)).status, 401)
    assert.deepEqual([browser.cookie, store.writes], [cookie, writes])
    assert.equal(await me(browser), 'ada')
  })
})

describe('an Authorization header', () => {
  test('takes precedence over the session, which stays the same with `remember: "signed-in"`', async (t) => {
    const { browser, store, lookedUp, me } = await start(t, { remember: 'signed-in' })
    await browser.post('/', form('ada'))
    const { cookie } = browser
    const { data, writes } = store
    for (const authorization of ['Bearer eve', 'Bearer', 'Basic !', 'Digest x', ''])
      assert.equal((await browser.get('/guarded', { authorization })).status, 401, authorization)
    assert.equal(await me(browser, '/guarded', bearer('bob')), 'bob')
    assert.deepEqual(lookedUp, [])
    assert.deepEqual([browser.cookie, store.data, store.writes], [cookie, data, writes])
    assert.equal(await me(browser), 'ada')
  })
})

describe('a sign-out', () => {
  test('ends the session on the server, so that a copied cookie is invalid', async (t) => {
    const { browser, store, me, copyOf } = await start(t)
    await browser.post('/', form('ada'))
    await browser.get('/visit')
    const kept = copyOf(browser)

    const response = await browser.post('/logout')

    assert.match(response.headers.getSetCookie()[0] ?? '', /^koa\.sess=; path=\/; expires=Thu, 01 Jan 1970/)
    assert.deepEqual(store.ids, [])
    assert.equal(await me(kept), 'anonymous')
    assert.equal((await kept.post('/logout')).status, 200)
  })

  test('by `logout` or `ctx.session = null` ends the session, even if the handler throws afterwards', async (t) => {
    const { browser, store, me } = await start(t, {
      act: (ctx) => {
        if (ctx.path.startsWith('/end')) ctx.session = null
        if (ctx.query.how === 'throwing') throw new Error('the audit log is unavailable')
      },
    })
    for (const path of ['/end', '/end?how=throwing', '/logout?how=throwing']) {
      await browser.post('/', form('ada'))
      await browser.get(path)
      assert.deepEqual(store.ids, [], path)
      assert.equal(await me(browser), 'anonymous')
    }
  })

  test('is not undone by a concurrent request that does not change the session', async (t) => {
    const slowIsIn = Promise.withResolvers<void>()
    const slowMayGo = Promise.withResolvers<void>()
    const { browser, store, me, copyOf } = await start(t, {
      act: (ctx) => {
        if (ctx.path !== '/slow') return undefined
        slowIsIn.resolve()
        return slowMayGo.promise
      },
    })
    await browser.post('/', form('ada'))
    const kept = copyOf(browser)
    const slow = me(kept, '/slow')
    await slowIsIn.promise
    await browser.post('/logout')
    slowMayGo.resolve()
    assert.equal(await slow, 'ada')
    assert.deepEqual(store.ids, [])
    assert.equal(await me(kept), 'anonymous')
  })
})

describe('a handler that throws', () => {
  test('neither writes to the session nor starts a new one', async (t) => {
    for (const store of [new MemoryStore(), undefined]) {
      const { url, browser, copyOf, me } = await start(t, {
        store,
        act: (ctx) => {
          if (ctx.path !== '/throw' || !ctx.session) return
          ;(ctx.session.cart as string[])?.push('another')
          ctx.session.paid = true
          throw new Error('the bank is unavailable')
        },
      })
      const visitor = new Browser(url)
      await browser.post('/', form('ada'))
      await browser.get('/visit')
      const { cookie } = browser
      for (const client of [visitor, browser]) assert.equal((await client.get('/throw')).status, 500)
      for (const as of ['ada', 'bob']) assert.equal((await browser.get(`/throw?as=${as}`)).status, 500)
      assert.deepEqual([visitor.cookie, browser.cookie], ['', cookie])
      assert.equal(await me(copyOf(browser)), 'ada')
      if (store) assert.deepEqual(store.data, { User: 'ada', cart: ['a book'], isAdmin: true })
    }
  })
})

describe('a response that starts before the handler ends', () => {
  test('completes after a late sign-in, starts no session and reports the error', async (t) => {
    const { browser, errors, store, me } = await start(t, {
      act: (ctx, { known }) => {
        ctx.status = 200
        ctx.flushHeaders()
        ctx.auth.login(known.get('ada') ?? {})
      },
    })
    assert.equal(await me(browser), 'ada')
    assert.deepEqual(store.ids, [])
    assert.match(errors[0]?.message ?? '', /after the response headers were sent/)
  })
})

describe('two user types in one session', () => {
  test('are restored and signed out independently', async (t) => {
    for (const isAdminFirst of [false, true]) {
      const store = new MemoryStore()
      const { browser, both } = await startTwoTypes(t, { store, isAdminFirst })
      const steps: [string, string, object][] = [
        ['/?user=ada', 'ada undefined', { user: 'ada' }],
        ['/?admin=root', 'ada root', { user: 'ada', admin: 'root' }],
        ['/?user=eve', 'eve root', { user: 'eve', admin: 'root' }],
        ['/?out=user', 'undefined root', { admin: 'root' }],
        ['/?user=ada&out=admin', 'ada undefined', { user: 'ada' }],
        ['/?out=user', 'undefined undefined', {}],
        ['/?user=ada&admin=root', 'ada root', { user: 'ada', admin: 'root' }],
        ['/?out=user+admin', 'undefined undefined', {}],
      ]
      for (const [path, users, data] of steps) {
        await browser.get(path)
        assert.deepEqual([await both(), store.data], [users, data], path)
      }
      assert.deepEqual([browser.cookie, store.ids], ['', []])
    }
  })

  test('are reported at the first request if they have the same key', async (t) => {
    const users = people('ada')
    const others = people('ada')
    const app = appWith(new MemoryStore())
    app.use(new users.FromSession().middleware())
    app.use(new others.FromSession().middleware())
    const { url, errors } = await serve(t, app)

    assert.equal((await fetch(url)).status, 500)
    assert.equal(
      errors[0]?.message,
      'Two user types have the session key "User". Give one of them another `key`.',
    )
  })
})

describe('a session', () => {
  test('S9 is ignored without a look-up if the identifier of the user is not a string', async (t) => {
    const { User, FromSession, lookedUp } = people('ada', '1', 'true', 'null')
    const app = appWith(new MemoryStore())
    app.use((ctx, next) => {
      if (ctx.session) ctx.session.User = JSON.parse(decodeURIComponent(ctx.querystring))
      return next()
    })
    app.use(new FromSession().middleware())
    app.use((ctx) => {
      ctx.body = ctx.auth.has(User)
    })
    const { url } = await serve(t, app)
    const has = async (value: unknown) =>
      (await fetch(`${url}/?${encodeURIComponent(JSON.stringify(value))}`)).text()

    for (const value of [1, true, null, ['ada'], { $ne: '' }, { sessionID: 'ada' }, []]) {
      assert.equal(await has(value), 'false', JSON.stringify(value))
    }
    assert.deepEqual(lookedUp, [])
    assert.equal(await has('__proto__'), 'false')
    assert.equal(await has(''), 'false')
    assert.equal(await has('ada'), 'true')
  })

  test('causes 503 on a guarded route while the look-up of its user fails, and is valid again afterwards', async (t) => {
    const { browser, store, known, me } = await start(t)
    await browser.post('/', form('ada'))
    const { cookie } = browser
    const { data } = store
    known.get = () => {
      throw new Error('the database is down')
    }
    assert.equal((await browser.get('/guarded')).status, 503)
    Reflect.deleteProperty(known, 'get')
    assert.equal(await me(browser, '/guarded'), 'ada')
    assert.deepEqual([browser.cookie, store.data], [cookie, data])
  })

  test('A5 does not store the user of an authenticator that fails after the login', async (t) => {
    const { User, FromSession, known } = people('ada')
    class Half extends BearerAuthenticator<InstanceType<typeof User>> {
      readonly user = User
      override async authenticate({ token }: BearerAuthorization, ctx: AuthContext) {
        const user = known.get(token)
        if (user) ctx.auth.login(user)
        throw new Error('the last use could not be written')
      }
    }
    const store = new MemoryStore()
    const app = appWith(store)
    app.use(new FromSession().middleware())
    app.use(new Half().middleware())
    app.use((ctx) => {
      ctx.body = ctx.auth.failure ? 'unknown' : 'known'
    })
    const { url } = await serve(t, app)
    const response = await fetch(url, { headers: { authorization: 'Bearer ada' } })
    assert.deepEqual([await response.text(), response.headers.getSetCookie(), store.ids], ['unknown', [], []])
  })

  test('without regenerate() is reported, and stores no user', async (t) => {
    const { User, FromSession, ByForm } = people('ada')
    const session: Record<string, unknown> = { cart: ['a book'] }
    const app = new Koa<object, SessionContext>()
    app.use(bodyParser())
    app.use(auth())
    app.use((ctx, next) => {
      ctx.session = session
      return next()
    })
    app.use(new FromSession().middleware())
    app.use(new ByForm().middleware())
    app.use((ctx) => {
      ctx.body = ctx.auth.has(User)
    })
    const { url, errors } = await serve(t, app)

    assert.equal((await new Browser(url).post('/', form('ada'))).status, 500)
    assert.match(errors[0]?.message ?? '', /cannot change its identifier. Use koa-session/)
    assert.equal('User' in session, false)
  })
})

describe('a session authenticator', () => {
  test('S85 requires a session middleware, and reports a missing one at the first request', async (t) => {
    const { FromSession } = people('ada')
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use(new FromSession().middleware())
    const { url, errors } = await serve(t, app)

    const response = await fetch(url)

    assert.equal(response.status, 500)
    assert.equal(await response.text(), 'Internal Server Error')
    assert.equal(
      errors[0]?.message,
      'Add a session middleware before the session authenticator, such as `app.use(session(app))`.',
    )
  })

  test('rejects a `key` that koa-session drops, at startup', () => {
    const { FromSession } = people('ada')
    for (const key of ['', '_user', '_maxAge', 'toString', '__proto__', 'user:authenticated'])
      assert.throws(
        () => new FromSession({ key }),
        { code: 'ERR_AUTH_MISUSE', message: /another `key`/ },
        key,
      )
    for (const key of [5, Symbol('key'), null] as unknown as string[])
      assert.throws(() => new FromSession({ key }), { code: 'ERR_AUTH_MISUSE' })
  })

  test('requires a `key` for a class without a name', () => {
    const Nameless = (() => class {})() as new () => { sessionID: string }
    Object.defineProperty(Nameless, 'name', { value: '' })
    assert.throws(() => SessionAuthenticator.from(Nameless, () => undefined), { code: 'ERR_AUTH_MISUSE' })
    SessionAuthenticator.from(Nameless, () => undefined, { key: 'user' })
    const bundled = class _User extends Nameless {}
    for (const options of [{}, { key: '_user' }])
      assert.throws(() => SessionAuthenticator.from(bundled, () => undefined, options), {
        code: 'ERR_AUTH_MISUSE',
        message: /another `key`/,
      })
    SessionAuthenticator.from(bundled, () => undefined, { key: 'user' })
  })

  test('rejects an unknown value of remember', () => {
    const { FromSession } = people('ada')
    assert.throws(() => new FromSession({ remember: 'signedin' as 'signed-in' }), { code: 'ERR_AUTH_MISUSE' })
  })

  test('reports a user whose identifier is not a string, and does not store it', async (t) => {
    class User {
      readonly sessionID = 42 as unknown as string
    }
    const app = new Koa<object, SessionContext>()
    app.keys = ['a key for tests']
    app.use(session({ maxAge: 60_000 }, app))
    app.use(auth())
    app.use(SessionAuthenticator.from(User, () => new User()))
    app.use(BearerAuthenticator.from(User, () => new User()))
    app.use(() => assert.fail('the handler must not run'))
    const { url, errors } = await serve(t, app)

    const response = await fetch(url, { headers: { authorization: 'Bearer any' } })
    assert.deepEqual([response.status, response.headers.getSetCookie()], [500, []])
    assert.match(errors[0]?.message ?? '', /`sessionID` of User must be a string/)
  })
})
