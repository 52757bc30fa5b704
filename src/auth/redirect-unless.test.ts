import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Koa from 'koa'
import { type AuthContext, auth } from './auth.ts'
import { RequestAuthenticator } from './authenticator.ts'
import { BasicAuthenticator } from './basic.ts'
import { withNext } from './next-path.ts'
import { redirectUnless } from './redirect-unless.ts'
import { serve } from './testing/serve.ts'
import { serveAuth } from './testing/serve-auth.ts'

/** A page for `ada`. Other requests are redirected. */
function pageWithRedirect(to: string | ((ctx: AuthContext) => string)) {
  class User {}
  class ByName extends BasicAuthenticator {
    readonly user = User
    override authenticate({ username }: { username: string }, ctx: AuthContext) {
      if (username === 'ada') ctx.auth.login(new User())
    }
  }
  const app = new Koa<object, AuthContext>()
  app.use(auth())
  app.use(new ByName().middleware())
  app.use(redirectUnless(User, to))
  app.use((ctx) => {
    ctx.body = 'the page'
  })
  return app
}

const ada = { authorization: `Basic ${btoa('ada:')}` }
const eve = { authorization: `Basic ${btoa('eve:')}` }

describe('redirectUnless', () => {
  test('S67 shows the page to a user, and redirects other requests to a fixed path', async (t) => {
    const { url } = await serve(t, pageWithRedirect('/login?required=1'))

    const shown = await fetch(url, { headers: ada, redirect: 'manual' })
    assert.equal(shown.status, 200)
    assert.equal(await shown.text(), 'the page')

    for (const headers of [eve, {}]) {
      const sent = await fetch(url, { headers, redirect: 'manual' })
      assert.equal(sent.status, 303)
      assert.equal(sent.headers.get('location'), '/login?required=1')
      assert.equal(sent.headers.get('www-authenticate'), null)
      assert.doesNotMatch(await sent.text(), /the page/)
    }
  })

  test('H5 responds with 303 to a form post too, so that the next request is a GET', async (t) => {
    const { url } = await serve(t, pageWithRedirect('/login'))

    for (const method of ['POST', 'PUT', 'DELETE', 'GET', 'HEAD']) {
      const { status } = await fetch(url, { method, redirect: 'manual' })
      assert.equal(status, 303, method)
    }
  })

  test('S67 accepts a function, which can add the requested page to the path', async (t) => {
    const { url } = await serve(
      t,
      pageWithRedirect((ctx) => withNext('/login', ctx)),
    )
    const location = async (path: string, method = 'GET') =>
      (await fetch(url + path, { method, redirect: 'manual' })).headers.get('location')

    assert.equal(await location('/account'), '/login?next=%2Faccount')
    assert.equal(await location('/account?tab=1&x=%26'), '/login?next=%2Faccount%3Ftab%3D1%26x%3D%2526')
    assert.equal(await location('/account', 'POST'), '/login')
    assert.equal(await location('//example.com/'), '/login')
    assert.equal((await fetch(url, { headers: ada })).status, 200)
  })

  test('H1 responds with 401 if a function returns a URL of another site', async (t) => {
    const { url } = await serve(
      t,
      pageWithRedirect((ctx) => ctx.get('x-to')),
    )
    const get = (to: string) => fetch(url, { headers: { 'x-to': to }, redirect: 'manual' })

    assert.equal((await get('/login')).headers.get('location'), '/login')
    for (const to of [
      '//example.com',
      '/\\example.com',
      '/.//example.com',
      'https://example.com',
      'javascript:alert(1)',
      '/\t/a.b',
      '',
    ]) {
      const response = await get(to)
      assert.equal(response.status, 401, to)
      assert.equal(response.headers.get('location'), null)
    }
  })

  test('accepts a fixed string with the URL of another site', async (t) => {
    const { url } = await serve(t, pageWithRedirect('https://login.example.com/'))

    const response = await fetch(url, { redirect: 'manual' })

    assert.equal(response.headers.get('location'), 'https://login.example.com/')
  })

  test('H5 escapes input in the body of the redirect', async (t) => {
    const { url } = await serve(
      t,
      pageWithRedirect((ctx) => `/login?from=${ctx.get('x-from')}`),
    )

    const headers = { 'x-from': '"><script>alert(1)</script>', accept: 'text/html' }
    const response = await fetch(url, { headers, redirect: 'manual' })

    assert.equal(response.status, 303)
    assert.doesNotMatch(await response.text(), /[<>"]/)
  })

  test('responds with 503 instead of a redirect after a failed authenticator', async (t) => {
    class User {}
    class Broken extends RequestAuthenticator {
      readonly user = User
      override attempt() {
        throw new Error('the database is down')
      }
    }
    const { url } = await serveAuth(t, new Broken().middleware(), redirectUnless(User, '/login'))

    const response = await fetch(url, { redirect: 'manual' })

    assert.equal(response.status, 503)
    assert.equal(response.headers.get('location'), null)
  })

  test('reports an asynchronous function, and keeps the process running', async (t) => {
    class User {}
    const { url, errors } = await serveAuth(
      t,
      redirectUnless(User, (async (ctx: AuthContext) => decodeURIComponent(ctx.querystring)) as never),
    )

    for (const query of ['/login', '%E0']) assert.equal((await fetch(`${url}/?${query}`)).status, 500)
    assert.match(errors[1]?.message ?? '', /^The function of `redirectUnless` must return its result/)
  })

  test('throws at startup without a class or a path', () => {
    class User {}
    const withoutClass = redirectUnless as unknown as (to: string) => void
    assert.throws(() => withoutClass('/login'), {
      message: /^Name the class of the user/,
    })
    assert.throws(() => redirectUnless(User, undefined as never), {
      code: 'ERR_AUTH_MISUSE',
      message: /redirectUnless\(User, '\/login'\)/,
    })
  })
})
