import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import Router from '@koa/router'
import Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import session from 'koa-session'
import { type AuthContext, auth } from './auth.ts'
import { RequestAuthenticator } from './authenticator.ts'
import { CredentialsAuthenticator } from './credentials.ts'
import { refuseCrossSite } from './cross-site.ts'
import { guard } from './guard.ts'
import { withNext } from './next-path.ts'
import { redirectUnless } from './redirect-unless.ts'
import { SessionAuthenticator } from './session.ts'
import { serve } from './testing/serve.ts'
import { serveAuth } from './testing/serve-auth.ts'

/** The warnings of the package while the test runs. Removes Node's own listener, which prints them. */
function warnings(t: TestContext): string[] {
  const seen: string[] = []
  const listen = (warning: Error & { code?: string }) => {
    if (warning.code?.startsWith('KOA_AUTH_'))
      seen.push(`${warning.code}: ${warning.message}`.replace('KOA_AUTH_UNGUARDED: ', ''))
  }
  const others = process.listeners('warning')
  process.removeAllListeners('warning').on('warning', listen)
  t.after(() => {
    process.off('warning', listen)
    for (const each of others) process.on('warning', each)
  })
  return seen
}

class User {}

class AcceptsAll extends RequestAuthenticator<User> {
  readonly user = User
  override attempt(ctx: AuthContext) {
    ctx.auth.login(new User())
  }
}

class AcceptsNone extends RequestAuthenticator<User> {
  readonly user = User
  override attempt() {}
}

const answer = (ctx: AuthContext) => {
  ctx.body = 'done'
}

async function get(t: TestContext, routes: (router: Router<object, AuthContext>) => void, paths: string[]) {
  const router = new Router<object, AuthContext>()
  routes(router)
  const { url } = await serveAuth(t, router)
  for (const path of paths) await fetch(url + path, { redirect: 'manual' })
}

describe('a route without a guard', () => {
  test('is reported once, regardless of its parameters', async (t) => {
    const seen = warnings(t)

    await get(t, (router) => router.get('/unguarded/:id', new AcceptsAll().middleware(), answer), [
      '/unguarded/1',
      '/unguarded/1',
      '/unguarded/2',
    ])

    assert.deepEqual(seen, [
      'GET /unguarded/:id ran an authenticator, but did not check the user. Add `guard(User)` or call `ctx.auth.get(User)`.',
    ])
  })

  test('is reported for a logout of a user class that has no authenticator on the route', async (t) => {
    const seen = warnings(t)
    const logOut = (ctx: AuthContext) => {
      ctx.auth.logout(User)
      ctx.status = 204
    }

    await get(
      t,
      (router) => {
        router.get('/logout', logOut)
        router.get('/logout-with-session', new AcceptsAll().middleware(), logOut)
      },
      ['/logout', '/logout-with-session'],
    )

    assert.deepEqual(seen, [
      'GET /logout logs out a User, but has no authenticator for that class, so the session does not end. Add the session authenticator.',
    ])
  })

  test('is reported if the route itself restores the session, but not if the whole application does', async (t) => {
    const seen = warnings(t)
    class SessionUser {
      readonly sessionID = '1'
    }
    class FromSession extends SessionAuthenticator<SessionUser> {
      readonly user = SessionUser
      override authenticate() {}
    }
    const app = new Koa<object, AuthContext>()
    const router = new Router<object, AuthContext>()
    router.get('/public', answer)
    router.get('/private', new FromSession({ key: 'again' }).middleware(), answer)
    app.use(auth())
    app.use(session({ signed: false }, app))
    app.use(new FromSession().middleware())
    app.use(router.routes())
    const { url } = await serve(t, app)

    for (const path of ['/public', '/private']) await fetch(url + path)

    assert.deepEqual(
      seen.map((warning) => warning.split(' ran')[0]),
      ['GET /private'],
    )
  })

  test('is not reported if the handler calls `get`, `has`, `require`, `login` or `logout`', async (t) => {
    const seen = warnings(t)
    const checks: Record<string, (ctx: AuthContext) => unknown> = {
      get: (ctx) => ctx.auth.get(User),
      has: (ctx) => ctx.auth.has(User),
      require: (ctx) => ctx.auth.require(User),
      login: (ctx) => ctx.auth.login(new User()),
      logout: (ctx) => ctx.auth.logout(User),
    }

    await get(
      t,
      (router) => {
        router.get('/checks/guard', new AcceptsAll().middleware(), guard(User), answer)
        router.get('/checks/redirect', new AcceptsAll().middleware(), redirectUnless(User, '/'), answer)
        for (const [name, check] of Object.entries(checks)) {
          router.get(`/checks/${name}`, new AcceptsAll().middleware(), (ctx) => {
            check(ctx)
            answer(ctx)
          })
        }
        router.get('/has-no-authenticator', answer)
      },
      [
        ...['/checks/guard', '/checks/redirect', '/has-no-authenticator', '/is-no-route'],
        ...Object.keys(checks).map((name) => `/checks/${name}`),
      ],
    )

    assert.deepEqual(seen, [])
  })

  test('is not reported if the response is an error', async (t) => {
    const seen = warnings(t)

    await get(
      t,
      (router) => {
        router.get('/throws', new AcceptsAll().middleware(), (ctx) => ctx.throw(418))
        router.get('/has-no-such-thing', new AcceptsAll().middleware(), (ctx) => {
          ctx.status = 404
        })
      },
      ['/throws', '/has-no-such-thing'],
    )

    assert.deepEqual(seen, [])
  })

  test('is not reported in production', async (t) => {
    const seen = warnings(t)
    const { NODE_ENV } = process.env
    process.env.NODE_ENV = 'production'
    t.after(() => {
      if (NODE_ENV === undefined) delete process.env.NODE_ENV
      else process.env.NODE_ENV = NODE_ENV
    })

    await get(t, (router) => router.get('/in-production', new AcceptsAll().middleware(), answer), [
      '/in-production',
    ])

    assert.deepEqual(seen, [])
  })
})

describe('a guard or a redirect with no authenticator before it', () => {
  test('is reported once for each route', async (t) => {
    const seen = warnings(t)

    await get(
      t,
      (router) => {
        router.get('/only-a-guard', guard(User), answer)
        router.get('/only-a-redirect', redirectUnless(User, '/'), answer)
      },
      ['/only-a-guard', '/only-a-guard', '/only-a-redirect', '/only-a-redirect'],
    )

    assert.deepEqual(seen, [
      'GET /only-a-guard has a guard or a redirect and no authenticator before it. Add one for User.',
      'GET /only-a-redirect has a guard or a redirect and no authenticator before it. Add one for User.',
    ])
  })
})

describe('a guard that requires a fresh user', () => {
  test('is reported once if the authenticators before it accept only tokens', async (t) => {
    const seen = warnings(t)
    class ByPassword extends AcceptsNone {
      override readonly methods = ['pwd']
    }
    const fresh = guard(User, { fresh: '10m' })

    await get(
      t,
      (router) => {
        router.get('/only-tokens', new AcceptsAll().middleware(), fresh, answer)
        router.get('/password', new ByPassword().middleware(), new AcceptsAll().middleware(), fresh, answer)
        router.get('/no-user', new AcceptsNone().middleware(), fresh, answer)
      },
      ['/only-tokens', '/only-tokens', '/password', '/no-user'],
    )

    assert.deepEqual(seen, [
      'KOA_AUTH_NEVER_FRESH: GET /only-tokens requires a fresh user, but its authenticators accept only tokens. Add a session or password authenticator.',
    ])
  })
})

describe('a redirect of a page to itself', () => {
  test('is reported once', async (t) => {
    const seen = warnings(t)
    const { url } = await serveAuth(
      t,
      new AcceptsNone().middleware(),
      redirectUnless(User, (ctx) => withNext('/login', ctx)),
    )

    for (const path of ['/', '/login', '/login?next=%2F']) await fetch(url + path, { redirect: 'manual' })
    // A redirect after a POST leads to a GET, which is another route.
    await fetch(`${url}/login`, { method: 'POST', redirect: 'manual' })

    assert.deepEqual(seen, [
      'KOA_AUTH_REDIRECT_LOOP: GET /login redirects to itself. Mount `redirectUnless` on other routes only.',
    ])
  })
})

describe('the warning of missing fields', () => {
  async function post(t: TestContext, route: string, fields: Record<string, string>[]) {
    const router = new Router<object, AuthContext>()
    const authenticator = CredentialsAuthenticator.from(User, () => undefined)
    router.post(route, authenticator, guard(User), answer)
    const { url } = await serveAuth(t, bodyParser(), router)
    for (const each of fields) await fetch(url + route, { method: 'POST', body: new URLSearchParams(each) })
  }

  test('is reported once for a route, with the names of the sent fields and without their values', async (t) => {
    const seen = warnings(t)

    await post(t, '/misnamed', [
      { email: 'ada@example.com', password: 's3cret' },
      { login: 'ada', pass: 's3cret' },
    ])

    assert.deepEqual(seen, [
      'KOA_AUTH_FIELDS: POST /misnamed received a body without `username`. Its fields are: email, password. Set the option `fields` for other names.',
    ])
  })

  test('is not reported for an empty body or with both fields', async (t) => {
    const seen = warnings(t)

    await post(t, '/well-named', [{}, { username: 'ada', password: 'wrong', more: '' }])

    assert.deepEqual(seen, [])
  })
})

describe('the warning of a missing cross-site check', () => {
  class Member {
    readonly sessionID = '1'
  }

  async function serveSessions(t: TestContext, mount: (app: Koa<object, AuthContext>) => void) {
    const app = new Koa<object, AuthContext>()
    app.use(session({ signed: false }, app))
    mount(app)
    app.use(answer)
    const { url } = await serve(t, app)
    return (method: string) => fetch(url, { method, headers: { 'sec-fetch-site': 'same-origin' } })
  }

  const member = () => SessionAuthenticator.from(Member, () => undefined)

  test('is reported once, at the first unsafe request', async (t) => {
    const seen = warnings(t)
    const send = await serveSessions(t, (app) => app.use(auth()).use(member()))

    for (const method of ['GET', 'HEAD', 'OPTIONS']) await send(method)
    assert.deepEqual(seen, [])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'POST']) await send(method)

    assert.deepEqual(seen, [
      'KOA_AUTH_CROSS_SITE: A session authenticator served a POST request without a cross-site check. Add `app.use(refuseCrossSite())` before it.',
    ])
  })

  test('is not reported if the check is mounted before the session authenticator', async (t) => {
    const seen = warnings(t)
    const first = await serveSessions(t, (app) => app.use(refuseCrossSite()).use(auth()).use(member()))
    const second = await serveSessions(t, (app) => app.use(auth()).use(refuseCrossSite()).use(member()))

    await first('POST')
    await second('DELETE')

    assert.deepEqual(seen, [])
  })
})

describe('the warnings', () => {
  test('are limited in number without a router, because clients can request any path', async (t) => {
    const seen = warnings(t)
    const { url } = await serveAuth(t, new AcceptsAll().middleware(), answer)

    for (let i = 0; i < 150; i += 1) await fetch(`${url}/path-${i}`)

    assert.ok(seen.length > 50 && seen.length <= 100, `${seen.length}`)
  })
})
