import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AuthContext } from './auth.ts'
import type { BasicAuthorization } from './authorization.ts'
import { BasicAuthenticator } from './basic.ts'
import { guard } from './guard.ts'
import { rawRequest } from './testing/raw-request.ts'
import { serveAuth } from './testing/serve-auth.ts'

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })

describe('BasicAuthenticator', () => {
  test('S1 S6 S44 S70 accepts only the right name and password', async (t) => {
    class User {
      readonly name = 'Ada'
    }
    class ByPassword extends BasicAuthenticator<User> {
      readonly user = User
      override authenticate({ username, password }: BasicAuthorization, ctx: AuthContext) {
        if (username === 'ada' && password === 'a:b::🙂') ctx.auth.login(new User())
      }
    }
    const { url } = await serveAuth(t, new ByPassword().middleware(), guard(User), (ctx) => {
      ctx.body = ctx.auth.require(User).name
    })

    assert.equal(await (await fetch(url, { headers: basic('ada:a:b::🙂') })).text(), 'Ada')
    for (const wrong of ['ada:a:b::', 'ada:a', 'Ada:a:b::🙂', 'ada:', ':a:b::🙂', 'ada', '']) {
      assert.equal((await fetch(url, { headers: basic(wrong) })).status, 401, wrong)
    }
    assert.equal((await fetch(url)).status, 401)
  })

  test('S69 runs only for requests with well-formed Basic credentials', async (t) => {
    const calls: BasicAuthorization[] = []
    class Recorder extends BasicAuthenticator {
      readonly user = class User {}
      override authenticate(credentials: BasicAuthorization) {
        calls.push(credentials)
      }
    }
    const { url, port } = await serveAuth(t, new Recorder().middleware(), (ctx) => {
      ctx.body = ctx.auth.has(Recorder)
    })

    for (const authorization of ['Bearer abc', 'Basic', 'Basic !', 'Basic YWRh', 'Digest YTpi']) {
      assert.equal((await fetch(url, { headers: { authorization } })).status, 200)
    }
    await fetch(url)
    await fetch(url, { method: 'POST', body: new URLSearchParams({ username: 'ada', password: 'x' }) })
    await rawRequest(port, ['Authorization: Basic YTpi', 'Authorization: Basic YTpi'])
    assert.deepEqual(calls, [])

    await fetch(url, { headers: basic('ada:x') })
    assert.deepEqual(calls, [{ username: 'ada', password: 'x' }])
  })

  test('quotes its realm, and rejects an invalid realm at startup', async (t) => {
    class User {}
    class Named extends BasicAuthenticator<User> {
      readonly user = User
      override authenticate() {}
    }
    for (const realm of ['Büro', 'Büro – intern', '日本', 'a\r\nSet-Cookie: a=b', '\u0000', 7 as never])
      assert.throws(() => new Named({ realm }), {
        code: 'ERR_AUTH_MISUSE',
        message: /printable ASCII/,
      })
    const { url } = await serveAuth(t, new Named({ realm: 'the "back" \\ office' }).middleware(), guard(User))

    assert.equal(
      (await fetch(url)).headers.get('www-authenticate'),
      'Basic realm="the \\"back\\" \\\\ office", charset="UTF-8"',
    )
  })
})
