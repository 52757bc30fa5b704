import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import session from 'koa-session'
import { type AuthContext, auth } from './auth.ts'
import { authenticationNow, type Duration, type LoginOptions } from './authentication.ts'
import { type Find, RequestAuthenticator } from './authenticator.ts'
import { BasicAuthenticator } from './basic.ts'
import { BearerAuthenticator } from './bearer.ts'
import { CredentialsAuthenticator } from './credentials.ts'
import { SessionAuthenticator, type SessionOptions } from './session.ts'
import { Browser } from './testing/browser.ts'
import { MemoryStore } from './testing/memory-store.ts'
import { serve } from './testing/serve.ts'
import { serveAuth } from './testing/serve-auth.ts'

type SessionContext = AuthContext & { session: Record<string, unknown> | null }

class User {
  readonly sessionID: string
  constructor(name: string) {
    this.sessionID = name
  }
}
class Admin extends User {}

const findUser: Find<User> = (name) => (name === 'ada' || name === 'bob' ? new User(name) : undefined)
const byPassword: Find<User, { username: string; password: string }> = ({ username, password }) =>
  password === 'secret' ? new User(username) : undefined

interface Seen {
  readonly at?: number
  readonly methods?: readonly string[]
  readonly isFresh: boolean
}

/** A site that responds with the authentication of its user. At `/confirm`, a handler logs the user in. */
async function site(
  t: TestContext,
  { store = new MemoryStore(), ...options }: SessionOptions & { store?: MemoryStore | undefined } = {},
) {
  const app = new Koa<object, SessionContext>()
  app.keys = ['a key for tests']
  app.use(session({ maxAge: 60_000, store }, app))
  app.use(bodyParser())
  app.use(auth())
  app.use(SessionAuthenticator.from(User, findUser, options))
  app.use(SessionAuthenticator.from(Admin, (name) => new Admin(name)))
  app.use(BasicAuthenticator.from(User, byPassword))
  app.use(CredentialsAuthenticator.from(User, byPassword))
  app.use(BearerAuthenticator.from(User, findUser))
  app.use((ctx) => {
    const { as = 'ada', methods, fail } = ctx.query
    const options: LoginOptions = methods === undefined ? {} : { methods: String(methods).split(',') }
    if (ctx.path === '/confirm') ctx.auth.login(new User(String(as)), User, options)
    if (ctx.path === '/admin') ctx.auth.login(new Admin(String(as)), Admin, options)
    if (ctx.path === '/cart' && ctx.session) ctx.session.cart = ['a book']
    if (ctx.path === '/keep' && ctx.session) ctx.session.maxAge = 7 * 86_400_000
    if (ctx.path === '/logout') ctx.auth.logout(User)
    if (fail) throw new Error('the bank is unavailable')
    ctx.auth.get(User)
    ctx.body = { user: seen(ctx, User), admin: seen(ctx, Admin) }
  })
  const { url } = await serve(t, app)
  return { browser: new Browser(url), url, store }
}

function seen(ctx: AuthContext, type: typeof User): Seen {
  const { at, methods } = ctx.auth.authentication(type) ?? {}
  return {
    ...(at && { at: at.getTime() }),
    ...(methods && { methods }),
    isFresh: ctx.auth.isFresh(type, '10m'),
  }
}

async function userOf(response: Response): Promise<Seen> {
  assert.equal(response.status, 200)
  const { user } = (await response.json()) as { user: Seen }
  return user
}

const form = (username = 'ada') => ({ username, password: 'secret' })
const basic = { authorization: `Basic ${btoa('ada:secret')}` }
const bearer = { authorization: 'Bearer ada' }

function assertIsNow(at: number | undefined, since: number): void {
  assert.ok(at !== undefined && at >= since && at <= Date.now(), `${at} is not now`)
}

describe('ctx.auth.authentication', () => {
  test('has the current time and the method `pwd` after a password in a header or a form', async (t) => {
    const { browser, url } = await site(t)
    const since = Date.now()

    for (const response of [await fetch(url, { headers: basic }), await browser.post('/', form())]) {
      const { at, methods, isFresh } = await userOf(response)
      assertIsNow(at, since)
      assert.deepEqual([methods, isFresh], [['pwd'], true])
    }
  })

  test('has the current time and the given methods after a login by a handler, and no methods by default', async (t) => {
    const { browser } = await site(t)

    for (const [path, expected] of [
      ['/confirm', []],
      ['/confirm?methods=pwd,otp,mfa', ['pwd', 'otp', 'mfa']],
    ] as const) {
      const since = Date.now()
      const { at, methods, isFresh } = await userOf(await browser.post(path))
      assertIsNow(at, since)
      assert.deepEqual([methods, isFresh], [expected, true])
    }
  })

  test('returns the record that the sign-in stored in the session, and writes nothing', async (t) => {
    const { browser, store } = await site(t)
    const first = await userOf(await browser.post('/', form()))

    const { writes } = store
    const later = await browser.get('/')

    assert.deepEqual(await userOf(later), first)
    assert.deepEqual(store.records, { 'User:authenticated': { at: first.at, methods: ['pwd'] } })
    assert.deepEqual([store.writes, later.headers.has('set-cookie')], [writes, false])
  })

  test('is undefined for a visitor and for a bearer token', async (t) => {
    const { url } = await site(t)
    for (const headers of [{}, bearer])
      assert.deepEqual(await userOf(await fetch(url, { headers })), { isFresh: false })
  })

  test('is undefined if the record in the session is invalid, and the user stays signed in', async (t) => {
    const { browser, store } = await site(t)
    await browser.post('/', form())
    const at = Date.now()
    const records = [
      undefined,
      null,
      at,
      'pwd',
      [],
      {},
      { at },
      { methods: ['pwd'] },
      { at: String(at), methods: ['pwd'] },
      { at: null, methods: ['pwd'] },
      { at: 1e300, methods: ['pwd'] },
      { at: [at], methods: ['pwd'] },
      { at, methods: 'pwd' },
      { at, methods: [1] },
      { at, methods: { 0: 'pwd', length: 1 } },
    ]

    for (const record of records) {
      store.change((content) => {
        content['User:authenticated'] = record
      })
      assert.deepEqual(await userOf(await browser.get('/')), { isFresh: false }, JSON.stringify(record))
      assert.equal(store.data.User, 'ada')
    }
  })

  test('has the methods that an authenticator declares', async (t) => {
    class ByCertificate extends RequestAuthenticator<User> {
      readonly user = User
      override readonly methods = ['hwk']
      override attempt(ctx: AuthContext) {
        const step = ctx.get('x-step')
        ctx.auth.login(new User('ada'), User, step ? { methods: ['hwk', step] } : {})
      }
    }
    class ByLink extends RequestAuthenticator<Admin> {
      readonly user = Admin
      override readonly signsIn = true
      override attempt(ctx: AuthContext) {
        ctx.auth.login(new Admin('root'))
      }
    }
    const { url } = await serveAuth(t, new ByCertificate().middleware(), new ByLink().middleware(), (ctx) => {
      ctx.auth.has(User)
      ctx.body = [seen(ctx, User).methods, seen(ctx, Admin).methods]
    })

    assert.deepEqual(await (await fetch(url)).json(), [['hwk'], []])
    const steppedUp = await fetch(url, { headers: { 'x-step': 'otp' } })
    assert.deepEqual(await steppedUp.json(), [['hwk', 'otp'], []])
  })
})

describe('a confirmation by a handler', () => {
  test('E3 changes the session identifier and the record, with each value of `remember`', async (t) => {
    for (const remember of ['authenticated', 'signed-in'] as const) {
      const { browser, store, url } = await site(t, { remember })
      await browser.post('/', form())
      store.change((content) => {
        content['User:authenticated'] = { at: Date.now() - 3_600_000, methods: ['pwd'] }
      })
      assert.equal((await userOf(await browser.get('/'))).isFresh, false)
      const old = new Browser(url)
      old.cookie = browser.cookie
      const [before] = store.ids

      const since = Date.now()
      await browser.post('/confirm?methods=pwd,otp')

      assert.equal(store.ids.length, 1)
      assert.notEqual(store.ids[0], before)
      const { at, methods, isFresh } = await userOf(await browser.get('/'))
      assertIsNow(at, since)
      assert.deepEqual([methods, isFresh], [['pwd', 'otp'], true])
      assert.deepEqual(await userOf(await old.get('/')), { isFresh: false })
    }
  })

  test('keeps the lifetime of the session', async (t) => {
    const { browser, store } = await site(t)
    await browser.post('/keep', form())
    const lifetime = 7 * 86_400_000
    assert.equal(store.maxAge, lifetime)

    const response = await browser.post('/confirm')

    assert.equal(store.maxAge, lifetime)
    const [cookie = ''] = response.headers.getSetCookie()
    const expires = Date.parse(/expires=([^;]+)/.exec(cookie)?.[1] ?? '')
    assert.ok(Math.abs(expires - Date.now() - lifetime) < 10_000, cookie)
  })

  test('keeps the users of other classes and their records, and clears the other data', async (t) => {
    const { browser, store } = await site(t)
    await browser.post('/admin?as=root&methods=hwk')
    const admin = store.records['Admin:authenticated']
    await browser.post('/', form())
    await browser.get('/cart')
    assert.deepEqual(store.data, { Admin: 'root', User: 'ada', cart: ['a book'] })

    await browser.post('/confirm?methods=pwd,otp')

    assert.deepEqual(store.data, { Admin: 'root', User: 'ada' })
    assert.deepEqual(store.records['Admin:authenticated'], admin)
    await browser.post('/logout')
    assert.deepEqual(store.records, { 'Admin:authenticated': admin })
  })

  test('replaces a record that an attacker planted, and deletes a planted record of another class', async (t) => {
    const { browser, store } = await site(t)
    await browser.get('/cart')
    store.change((content) => {
      content['User:authenticated'] = { at: Date.now() - 1000, methods: ['pwd'] }
      content['Admin:authenticated'] = { at: Date.now() - 1000, methods: ['pwd'] }
    })
    assert.deepEqual(await userOf(await browser.get('/')), { isFresh: false })

    await browser.post('/confirm?as=bob&methods=otp')

    assert.deepEqual(Object.keys(store.records), ['User:authenticated'])
    assert.deepEqual((await userOf(await browser.get('/'))).methods, ['otp'])
  })
})

describe('ctx.auth.isFresh', () => {
  test('compares the age of the authentication with a duration', async (t) => {
    const app = new Koa<object, SessionContext>()
    app.keys = ['a key for tests']
    const store = new MemoryStore()
    app.use(session({ maxAge: 60_000, store }, app))
    app.use(auth())
    app.use(SessionAuthenticator.from(User, findUser))
    app.use((ctx) => {
      if (ctx.path === '/log-in') ctx.auth.login(new User('ada'))
      const durations: Duration[] = ['30s', '10m', '1h', '1d', 600_000]
      ctx.auth.has(User)
      ctx.body = durations.map((each) => ctx.auth.isFresh(User, each))
    })
    const { url } = await serve(t, app)
    const browser = new Browser(url)
    await browser.get('/log-in')
    const second = 1_000

    for (const [age, expected] of [
      [0, [true, true, true, true, true]],
      [31 * second, [false, true, true, true, true]],
      [601 * second, [false, false, true, true, false]],
      [3_601 * second, [false, false, false, true, false]],
      [86_401 * second, [false, false, false, false, false]],
      // Clocks of two servers may differ by a minute.
      [-50 * second, [true, true, true, true, true]],
      [-70 * second, [false, false, false, false, false]],
    ] as const) {
      store.change((content) => {
        content['User:authenticated'] = { at: Date.now() - age, methods: [] }
      })
      assert.deepEqual(await (await browser.get('/')).json(), expected, `${age}`)
    }
  })

  test('rejects an invalid duration and a missing class', async (t) => {
    const { url } = await serveAuth(t, (ctx) => {
      const wrong = ['10', '10 m', '-1m', '0m', '1.5h', '1w', '', 0, -1, Number.NaN, Number.POSITIVE_INFINITY]
      for (const each of [...wrong, undefined, null, {}] as Duration[])
        assert.throws(() => ctx.auth.isFresh(User, each), { code: 'ERR_AUTH_MISUSE', message: /a duration/ })
      assert.throws(() => ctx.auth.isFresh(undefined as never, '1m'), { code: 'ERR_AUTH_MISUSE' })
      ctx.body = 'all of them'
    })

    assert.equal(await (await fetch(url)).text(), 'all of them')
  })

  test('does not throw if an authenticator has failed, and the failure is still reported', async (t) => {
    const { url, errors } = await serveAuth(
      t,
      BearerAuthenticator.from(User, () => Promise.reject(new Error('the database is down'))),
      (ctx) => {
        ctx.body = [ctx.auth.isFresh(User, '10m'), ctx.auth.authentication(User) === undefined]
      },
    )

    assert.deepEqual(await (await fetch(url, { headers: bearer })).json(), [false, true])
    // `auth()` reports a failure that no guard has handled.
    assert.equal(errors.length, 1)
  })
})

test('the methods of a login must be a list, because a guard would find `mfa` in the text `mfa-pending`', () => {
  assert.throws(() => authenticationNow(undefined, 'mfa-pending' as never), { name: 'Misuse' })
})
