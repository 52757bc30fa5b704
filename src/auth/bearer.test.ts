import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AuthContext } from './auth.ts'
import type { BearerAuthorization } from './authorization.ts'
import { BearerAuthenticator } from './bearer.ts'
import { guard } from './guard.ts'
import { rawRequest } from './testing/raw-request.ts'
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
})
