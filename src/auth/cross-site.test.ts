import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Koa from 'koa'
import { type AuthContext, auth } from './auth.ts'
import { RequestAuthenticator } from './authenticator.ts'
import { refuseCrossSite } from './cross-site.ts'
import { rawRequest } from './testing/raw-request.ts'
import { serve } from './testing/serve.ts'

/** An application behind the check, and the number of requests that reached its authenticator. */
function appWithCheck(origin?: string) {
  class User {}
  const seen = { requests: 0 }
  class AcceptsAll extends RequestAuthenticator {
    readonly user = User
    override attempt(ctx: AuthContext) {
      seen.requests += 1
      ctx.auth.login(new User())
    }
  }
  const app = new Koa<object, AuthContext>()
  app.use(refuseCrossSite(origin))
  app.use(auth())
  app.use(new AcceptsAll().middleware())
  app.use((ctx) => {
    ctx.body = ctx.auth.has(User)
  })
  return { app, seen }
}

const site = (value: string | undefined) => (value === undefined ? [] : [`Sec-Fetch-Site: ${value}`])
const from = (value: string | undefined) => (value === undefined ? [] : [`Origin: ${value}`])

describe('refuseCrossSite', () => {
  const sites = [
    undefined,
    'same-origin',
    'none',
    'same-site',
    'cross-site',
    '',
    'SAME-ORIGIN',
    'same-origin, none',
  ]
  const ours = 'https://example.org'
  const otherOrigins = [
    'null',
    '',
    'https://evil.example',
    'http://example.org',
    'https://example.org:8443',
    'https://example.org:443',
    'https://example.org.evil.example',
    'https://evil-example.org',
    'https://www.example.org',
    'https://example.org/',
    'https://EXAMPLE.ORG',
    'https://example.org https://evil.example',
    'https://evil.example, https://example.org',
    'example.org',
    '//example.org',
    'http://localhost',
  ]

  test('G1 G3 checks a state-changing request by Sec-Fetch-Site, or else by Origin', async (t) => {
    const { app, seen } = appWithCheck(ours)
    const { port } = await serve(t, app)

    for (const fetchSite of sites) {
      for (const origin of [undefined, ours, ...otherOrigins]) {
        const isOurs =
          fetchSite === undefined
            ? origin === undefined || origin === ours
            : /^(same-origin|none)$/.test(fetchSite)
        const before = seen.requests
        const lines = [...site(fetchSite), ...from(origin), 'Content-Length: 0']
        const { status, text } = await rawRequest(port, lines, 'POST / HTTP/1.1')
        assert.equal(status, isOurs ? 200 : 403, String(lines))
        assert.equal(seen.requests - before, isOurs ? 1 : 0)
        if (!isOurs) assert.match(text, /came from another site/)
      }
    }
  })

  test('checks every method that may change state', async (t) => {
    const { port } = await serve(t, appWithCheck(ours).app)

    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      for (const [lines, expected] of [
        [site('cross-site'), 403],
        [from('https://evil.example'), 403],
        [site('same-origin'), 200],
        [from(ours), 200],
      ] as const) {
        const { status } = await rawRequest(port, [...lines, 'Content-Length: 0'], `${method} / HTTP/1.1`)
        assert.equal(status, expected, `${method} ${lines}`)
      }
    }
  })

  test('accepts safe methods from any site', async (t) => {
    const { port } = await serve(t, appWithCheck(ours).app)

    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const lines = [...site('cross-site'), ...from('https://evil.example')]
      assert.equal((await rawRequest(port, lines, `${method} / HTTP/1.1`)).status, 200, method)
    }
  })

  test('compares `Origin` with the requested host if the `origin` option is missing', async (t) => {
    const { app } = appWithCheck()
    const { port } = await serve(t, app)
    const post = async (lines: string[]) =>
      (await rawRequest(port, [...lines, 'Content-Length: 0'], 'POST / HTTP/1.1')).status

    // The host of a raw request is `localhost`.
    assert.equal(await post(from('http://localhost')), 200)
    assert.equal(await post([]), 200)
    for (const origin of ['https://localhost', 'http://localhost:81', 'http://evil.example', 'null', '']) {
      assert.equal(await post(from(origin)), 403, origin)
    }
  })

  test('throws for an `origin` option that is not in the form that browsers send', () => {
    for (const wrong of [
      'https://example.org/',
      'https://EXAMPLE.org',
      'https://example.org:443',
      'example.org',
      '',
    ])
      assert.throws(() => refuseCrossSite(wrong), { code: 'ERR_AUTH_MISUSE', message: /Give an origin/ })
  })

  test('reports missing parentheses', async (t) => {
    const app = new Koa()
    app.use(refuseCrossSite as unknown as Koa.Middleware)
    const { url, errors } = await serve(t, app)
    assert.equal((await fetch(url)).status, 500)
    assert.equal(errors[0]?.message, 'Call it: `app.use(refuseCrossSite())`, with parentheses.')
  })

  test('rejects a request with two Origin or two Sec-Fetch-Site headers', async (t) => {
    const { app } = appWithCheck(ours)
    const { port } = await serve(t, app)

    for (const lines of [
      [...from(ours), ...from('https://evil.example')],
      [...from('https://evil.example'), ...from(ours)],
      [...site('none'), ...site('cross-site')],
    ]) {
      assert.equal((await rawRequest(port, [...lines, 'Content-Length: 0'], 'POST / HTTP/1.1')).status, 403)
    }
  })
})
