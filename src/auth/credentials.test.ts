import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Koa from 'koa'
import koaBody from 'koa-body'
import bodyParser from 'koa-bodyparser'
import { type AuthContext, auth } from './auth.ts'
import { BasicAuthenticator } from './basic.ts'
import { CredentialsAuthenticator, type PasswordCredentials } from './credentials.ts'
import { guard } from './guard.ts'
import { rawRequest } from './testing/raw-request.ts'
import { serve } from './testing/serve.ts'
import { serveAuth } from './testing/serve-auth.ts'

/** An application that logs in `ada` with the password `secret`, and the credentials that it received. */
function adaOnly(parser: Koa.Middleware = bodyParser()) {
  class User {
    readonly name = 'Ada'
  }
  const calls: PasswordCredentials[] = []
  class ByForm extends CredentialsAuthenticator<User> {
    readonly user = User
    override authenticate(credentials: PasswordCredentials, ctx: AuthContext) {
      calls.push(credentials)
      if (credentials.username === 'ada' && credentials.password === 'secret') ctx.auth.login(new User())
    }
  }
  const app = new Koa<object, AuthContext>()
  app.use(auth())
  app.use(parser)
  app.use(new ByForm().middleware())
  app.use(guard(User))
  app.use((ctx) => {
    ctx.body = ctx.auth.require(User).name
  })
  return { app, calls }
}

const never = CredentialsAuthenticator.from(class User {}, () => undefined)

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' ? 'application/x-www-form-urlencoded' : 'application/json'
  return fetch(url, { method: 'POST', body: text, headers: { 'content-type': type, ...headers } })
}

describe('CredentialsAuthenticator', () => {
  test('S1 S8 accepts only the right name and password, from a form and from JSON', async (t) => {
    const { url } = await serve(t, adaOnly().app)

    for (const right of ['username=ada&password=secret', { username: 'ada', password: 'secret' }]) {
      const response = await post(url, right)
      assert.equal(response.status, 200)
      assert.equal(await response.text(), 'Ada')
    }
    for (const wrong of [
      'username=ada&password=wrong',
      'username=ada&password=',
      'username=Ada&password=secret',
      'username=ada&password=secret+',
      { username: 'eve', password: 'secret' },
    ]) {
      assert.equal((await post(url, wrong)).status, 401, JSON.stringify(wrong))
    }
  })

  test('ignores a body of the wrong shape without a look-up', async (t) => {
    const { app, calls } = adaOnly()
    const { url } = await serve(t, app)
    const values: unknown[] = [undefined, null, true, 1, [], ['ada'], {}, { $ne: '' }, { toString: 'ada' }]
    const shapes: unknown[] = [
      ...values.map((username) => ({ username, password: 'secret' })),
      ...values.map((password) => ({ username: 'ada', password })),
      [],
      ['ada', 'secret'],
      [{ username: 'ada', password: 'secret' }],
      { user: { username: 'ada', password: 'secret' } },
      { Username: 'ada', Password: 'secret' },
      'username=ada',
      'password=secret',
      'username=ada&username=ada&password=secret',
      'username=ada&password=secret&password=secret',
      'username[]=ada&password=secret',
      'username[$ne]=x&password[$ne]=x',
      'username=ada&password[length]=6',
      '__proto__[username]=ada&__proto__[password]=secret',
      '=&&&==',
    ]

    for (const shape of shapes) assert.equal((await post(url, shape)).status, 401, JSON.stringify(shape))
    assert.deepEqual(calls, [])
  })

  test('responds with 401 to a malformed or too long user name, without a look-up', async (t) => {
    const { app, calls } = adaOnly()
    const { url } = await serve(t, app)
    for (const wrong of [
      `username=${'a'.repeat(1025)}&password=secret`,
      'username=a%00da&password=secret',
      'username=ada%0A&password=secret',
      'username=ada%7F&password=secret',
      { username: 'ada\ud83d', password: 'secret' },
    ]) {
      const response = await post(url, wrong)
      assert.equal(response.status, 401)
      assert.equal(await response.text(), 'The username or password is wrong.', JSON.stringify(wrong))
    }
    assert.deepEqual(calls, [])
  })

  test('treats a missing or undecoded body as no credentials', async (t) => {
    const { app, calls } = adaOnly()
    const { url } = await serve(t, app)
    const text = '<username>ada</username><password>secret</password>'

    assert.equal((await fetch(url)).status, 401)
    assert.equal((await fetch(url, { method: 'POST' })).status, 401)
    assert.equal((await post(url, text, { 'content-type': 'text/xml' })).status, 401)
    assert.equal((await fetch(`${url}/?username=ada&password=secret`)).status, 401)
    assert.deepEqual(calls, [])
  })

  test('accepts a function instead of a class, and other field names', async (t) => {
    class User {
      readonly name = 'Ada'
    }
    const { url } = await serveAuth(
      t,
      bodyParser(),
      CredentialsAuthenticator.from(
        User,
        ({ username, password }) => (username === 'ada' && password === 'secret' ? new User() : null),
        { fields: { username: 'email' } },
      ),
      guard(User),
      (ctx) => {
        ctx.body = ctx.auth.require(User).name
      },
    )
    assert.equal(await (await post(url, 'email=ada&password=secret')).text(), 'Ada')
    assert.equal(await (await post(url, { email: 'ada', password: 'secret' })).text(), 'Ada')
    for (const wrong of [
      { email: 'ada', password: 'wrong' },
      { username: 'ada', password: 'secret' },
      { email: { $ne: '' }, password: 'secret' },
    ])
      assert.equal((await post(url, wrong)).status, 401, JSON.stringify(wrong))
  })

  test('passes the password unchanged', async (t) => {
    const { app, calls } = adaOnly()
    const { url } = await serve(t, app)
    const passwords = [' secret ', '', 'e\u0301', '\0\t\r\n', '🙂'.repeat(64), 'x'.repeat(5000)]

    for (const password of passwords) await post(url, { username: 'ada', password })

    assert.deepEqual(
      calls.map(({ password }) => password),
      passwords,
    )
  })

  test('sends no challenge, because a browser would open its password dialog', async (t) => {
    const { url } = await serve(t, adaOnly().app)

    assert.equal((await post(url, 'username=ada&password=wrong')).headers.get('www-authenticate'), null)
  })

  test('S8 accepts custom credentials', async (t) => {
    class User {}
    class ByPin extends CredentialsAuthenticator<User, { pin: number }> {
      readonly user = User
      override parse(body: unknown) {
        const { pin } = body as { pin?: unknown }
        return typeof pin === 'string' && /^\d{4}$/.test(pin) ? { pin: Number(pin) } : undefined
      }
      override async authenticate({ pin }: { pin: number }, ctx: AuthContext) {
        if (pin === 1234) ctx.auth.login(new User())
      }
    }
    const { url } = await serveAuth(t, bodyParser(), new ByPin().middleware(), guard(User), (ctx) => {
      ctx.body = 'in'
    })

    assert.equal((await post(url, 'pin=1234')).status, 200)
    assert.equal((await post(url, 'pin=4321')).status, 401)
    assert.equal((await post(url, 'pin=abcd')).status, 401)
    assert.equal((await post(url, 'username=ada&password=secret')).status, 401)
  })

  test('ignores the body if the request has an Authorization header', async (t) => {
    class User {
      readonly by: string
      constructor(by: string) {
        this.by = by
      }
    }
    const byForm = CredentialsAuthenticator.from(User, () => new User('form'))
    const { url } = await serveAuth(
      t,
      bodyParser(),
      byForm,
      BasicAuthenticator.from(User, ({ password }) => (password === 'secret' ? new User('header') : null)),
      byForm,
      guard(User),
      (ctx) => {
        ctx.body = ctx.auth.require(User).by
      },
    )
    const form = 'username=ada&password=secret'

    assert.equal(await (await post(url, form)).text(), 'form')
    const right = await post(url, form, { authorization: `Basic ${btoa('ada:secret')}` })
    assert.equal(await right.text(), 'header')
    for (const authorization of [`Basic ${btoa('ada:wrong')}`, 'Basic !', 'Bearer abc', '']) {
      assert.equal((await post(url, form, { authorization })).status, 401, authorization)
    }
  })

  test('requires no body parser for GET, HEAD and DELETE', async (t) => {
    const { port } = await serveAuth(t, never, (ctx) => {
      ctx.body = 'a page'
    })

    for (const method of ['GET', 'HEAD', 'DELETE'])
      assert.equal(
        (await rawRequest(port, ['Content-Length: 1'], `${method} / HTTP/1.1`)).status,
        200,
        method,
      )
  })

  test('logs in through koa-body, by a form, by JSON and by multipart', async (t) => {
    const { url } = await serve(t, adaOnly(koaBody({ multipart: true })).app)
    const form = new FormData()
    form.set('username', 'ada')
    form.set('password', 'secret')

    assert.equal((await post(url, 'username=ada&password=secret')).status, 200)
    assert.equal((await post(url, { username: 'ada', password: 'secret' })).status, 200)
    assert.equal((await fetch(url, { method: 'POST', body: form })).status, 200)
  })

  test('reports a missing body parser if a request has a body', async (t) => {
    const { url, errors } = await serveAuth(t, never)

    for (const body of ['username=ada&password=secret', { username: 'ada', password: 'secret' }]) {
      const response = await post(url, body)

      assert.equal(response.status, 500)
      assert.equal(await response.text(), 'Internal Server Error')
      assert.equal(
        errors.pop()?.message,
        'Add a body parser before the credentials authenticator, such as `app.use(bodyParser())`.',
      )
    }
  })
})
