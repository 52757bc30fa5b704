import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Router from '@koa/router'
import Koa from 'koa'
import { type AuthContext, auth } from './auth.ts'
import type { BearerAuthorization } from './authorization.ts'
import { BearerAuthenticator } from './bearer.ts'
import { guard } from './guard.ts'
import { rawRequest } from './testing/raw-request.ts'
import { serve } from './testing/serve.ts'
import { serveAuth } from './testing/serve-auth.ts'

describe('BearerAuthenticator', () => {
  test('S1 S7 accepts only the right token', async (t) => {
    class User {
      readonly name = 'Ada'
    }
    class ByToken extends BearerAuthenticator<User> {
      readonly user = User
      override async authenticate({ token }: BearerAuthorization, ctx: AuthContext) {
        if (token === 'right') ctx.auth.login(new User())
      }
    }
    const { url, port } = await serveAuth(t, new ByToken().middleware(), guard(User), (ctx) => {
      ctx.body = ctx.auth.require(User).name
    })
    const get = (authorization: string) => fetch(url, { headers: { authorization } })

    assert.equal(await (await get('Bearer right')).text(), 'Ada')
    assert.equal(await (await get('bearer   right')).text(), 'Ada')
    for (const wrong of [
      'Bearer wrong',
      'Bearer Right',
      'Bearer right right',
      'Bearer',
      'Basic right',
      'right',
    ]) {
      assert.equal((await get(wrong)).status, 401, wrong)
    }
    assert.equal((await fetch(url)).status, 401)
    assert.equal((await fetch(`${url}/?access_token=right&token=right`)).status, 401)
    const doubled = ['Authorization: Bearer right', 'Authorization: Bearer right']
    assert.equal((await rawRequest(port, doubled)).status, 401)
  })

  test('accepts a function instead of a class', async (t) => {
    class User {
      readonly name: string
      constructor(name: string) {
        this.name = name
      }
    }
    const users = new Map([['right', new User('Ada')]])
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use(BearerAuthenticator.from(User, async (token) => users.get(token)))
    app.use(guard(User))
    app.use((ctx) => {
      ctx.body = ctx.auth.require(User).name
    })
    const { url } = await serve(t, app)
    const get = (token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(await (await get('right')).text(), 'Ada')
    const refused = await get('wrong')
    assert.equal(refused.status, 401)
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer .*invalid_token/)
    users.get = () => {
      throw new Error('the database is down')
    }
    app.silent = true
    assert.equal((await get('right')).status, 503)
  })

  test('S74 runs only for requests with a bearer token', async (t) => {
    const calls: BearerAuthorization[] = []
    class Recorder extends BearerAuthenticator {
      readonly user = class User {}
      override authenticate(bearer: BearerAuthorization) {
        calls.push(bearer)
      }
    }
    const { url } = await serveAuth(t, new Recorder().middleware(), (ctx) => {
      ctx.body = ctx.auth.has(Recorder)
    })

    for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer a b', 'Bearer a,b']) {
      assert.equal((await fetch(url, { headers: { authorization } })).status, 200)
    }
    await fetch(url)
    assert.deepEqual(calls, [])

    await fetch(url, { headers: { authorization: 'Bearer abc' } })
    assert.deepEqual(calls, [{ token: 'abc' }])
  })

  test('A3 adds invalid_token only if a token was sent (RFC 6750 §3.1)', async (t) => {
    class User {}
    class ByToken extends BearerAuthenticator<User> {
      readonly user = User
      override readonly realm = 'api'
      override authenticate() {}
    }
    const { url } = await serveAuth(t, new ByToken().middleware(), guard(User))
    const challenge = async (headers: Record<string, string>) => {
      const response = await fetch(url, { headers })
      assert.equal(response.status, 401)
      return response.headers.get('www-authenticate')
    }

    assert.equal(
      await challenge({ authorization: 'Bearer wrong' }),
      'Bearer realm="api", error="invalid_token"',
    )
    assert.equal(await challenge({}), 'Bearer realm="api"')
    assert.equal(await challenge({ authorization: 'Basic YTpi' }), 'Bearer realm="api"')
    assert.equal(await challenge({ authorization: 'Bearer' }), 'Bearer realm="api"')
  })

  test('rejects an invalid realm at startup', () => {
    class Named extends BearerAuthenticator {
      readonly user = class User {}
      override readonly realm = '日本'
      override authenticate() {}
    }
    assert.throws(() => new Named().middleware(), { code: 'ERR_AUTH_MISUSE', message: /printable ASCII/ })
  })

  test('A5 responds with 500 if a look-up returns a value that is not a user', async (t) => {
    class User {}
    for (const found of [[], true, 'ada', {}]) {
      const { url } = await serveAuth(
        t,
        BearerAuthenticator.from(User, async () => found as User),
        guard(User),
        (ctx) => {
          ctx.body = 'secret'
        },
      )
      assert.equal((await fetch(url, { headers: { authorization: 'Bearer any' } })).status, 500)
    }
  })

  test('treats null from a look-up as no user', async (t) => {
    class User {}
    const { url } = await serveAuth(
      t,
      BearerAuthenticator.from(User, async () => null),
      guard(User),
    )
    assert.equal((await fetch(url, { headers: { authorization: 'Bearer any' } })).status, 401)
  })

  test('adds a challenge only if it is mounted before the guard', async (t) => {
    class User {}
    class ByToken extends BearerAuthenticator<User> {
      readonly user = User
      override authenticate() {}
    }
    const router = new Router<object, AuthContext>()
    router.get('/before', new ByToken().middleware(), guard(User))
    router.get('/behind', guard(User), new ByToken().middleware())
    const { url } = await serveAuth(t, router)

    const before = await fetch(`${url}/before`)
    const behind = await fetch(`${url}/behind`)

    assert.deepEqual([before.status, behind.status], [401, 401])
    assert.equal(before.headers.get('www-authenticate'), 'Bearer realm="restricted"')
    assert.equal(behind.headers.get('www-authenticate'), null)
  })
})
