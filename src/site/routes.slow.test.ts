import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { rawRequest } from '../auth/testing/raw-request.ts'
import { dumpAll } from '../testing/dump.ts'
import { basic, bearer, signIn, signUp, takeJWT, takeToken } from '../testing/people.ts'
import { providerSite } from '../testing/provider-site.ts'
import { others, type Route, routes } from '../testing/routes.ts'

const everywhere: readonly Route[] = [...routes, ...others]

/** The routes by path. */
const paths = Map.groupBy(everywhere, ({ path }) => path)

async function siteWithAda(t: TestContext) {
  const { site } = await providerSite(t)
  const person = await signUp(site)
  return { site, person, ada: await signIn(site, person) }
}

describe('routes', () => {
  test('G1 G2 with POST reject other origins, with and without a session, and change nothing', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const before = await dumpAll(site)
    const { host, port } = new URL(site.url)
    const crossSite: Record<string, string>[] = [
      ...['cross-site', 'same-site', '', 'Same-Origin', 'none, same-origin'].map((from) => ({
        'sec-fetch-site': from,
      })),
      ...[
        'null',
        '',
        'https://evil.example',
        `http://evil.example:${port}`,
        `${site.url}.evil.example`,
        `http://x@${host}`,
      ].map((origin) => ({ origin })),
      { 'sec-fetch-site': 'cross-site', origin: site.url },
    ]
    const posts = routes.filter(({ method }) => method === 'POST')
    assert.ok(posts.length >= 11)
    site.log.length = 0
    for (const { path } of posts) {
      for (const headers of crossSite) {
        for (const answer of [
          await ada.form(path, { name: 'Eve', password: 'x' }, headers),
          await site.visitor().post(path, { ...basic(person), ...headers }),
        ]) {
          const { status, cookies, request } = answer
          assert.deepEqual([status, cookies], [403, []], `${request} ${JSON.stringify(headers)}`)
        }
      }
    }
    assert.doesNotMatch(site.log.join(''), /"authentication"/, 'no authenticator has run')
    assert.deepEqual(await dumpAll(site), before)
    assert.equal((await ada.get('/me')).status, 200)
  })

  test('A4 E10 of an account accept no token, and send a browser without a session to sign-in', async (t) => {
    const { site, person } = await siteWithAda(t)
    const credentials = [bearer(await takeToken(site, person)), bearer(await takeJWT(site, person)), {}]
    const before = await dumpAll(site)
    for (const { method, path } of routes) {
      if (!path.startsWith('/account') || path === '/account/closed') continue
      for (const headers of credentials) {
        const sent = await site.visitor().send(method, path, { accept: 'application/json', ...headers })
        // A route that is only a page redirects every client.
        const {
          status,
          headers: { location = '/login' },
        } = sent
        assert.ok(status === 401 || (status === 303 && location.startsWith('/login')), sent.request)
        assert.deepEqual(sent.cookies, [], sent.request)
      }
      const visitor = site.visitor()
      const { status, headers } = await (method === 'GET' ? visitor.page(path) : visitor.form(path, {}))
      const next = method === 'GET' ? `?next=${encodeURIComponent(path)}` : ''
      assert.deepEqual([status, headers.location], [303, `/login${next}`], path)
    }
    assert.deepEqual(await dumpAll(site), before)
  })

  test('G4 G6 change no account data for GET, HEAD and OPTIONS, and send no CORS header', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const token = await takeToken(site, person)
    await site.visitor().get('/me', bearer(token))
    const before = await dumpAll(site)
    const crossSite = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
      origin: 'https://evil.example',
    }
    for (const path of paths.keys()) {
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        for (const headers of [{}, { ...crossSite, accept: 'text/html' }, bearer(token)]) {
          const { cookies, request, headers: answered } = await ada.send(method, path, headers)
          assert.deepEqual(cookies, [], request)
          assert.deepEqual(
            Object.keys(answered).filter((name) => name.startsWith('access-control-')),
            [],
            `${request} sends a CORS header`,
          )
        }
      }
    }
    assert.deepEqual(await dumpAll(site), before)
    assert.equal((await ada.get('/me')).status, 200)
  })

  test('I4 respond to undeclared methods with 405 and Allow, or with 404 if the path is a static file', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const before = await dumpAll(site)
    for (const [path, declared] of paths) {
      const takes = new Set(declared.map(({ method }) => method))
      const allow = new Set([...takes].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
      const isFile = others.some((other) => other.path === path && !path.endsWith('z'))
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'SEARCH', 'REPORT']) {
        if (takes.has(method as 'GET')) continue
        const { status, headers } = await ada.send(method, path)
        // The router has no routes for static files.
        if (isFile) assert.equal(status, 404, `${method} ${path}`)
        else
          assert.deepEqual([status, new Set(headers.allow?.split(', '))], [405, allow], `${method} ${path}`)
      }
    }
    assert.deepEqual(await dumpAll(site), before)
  })

  test('I4 reject CONNECT, and reject TRACE without reflecting its headers', async (t) => {
    const { site } = await siteWithAda(t)
    const port = Number(new URL(site.url).port)
    for (const path of paths.keys()) {
      const { status, text } = await rawRequest(
        port,
        ['X-Canary: yellow', 'Cookie: session=yellow'],
        `TRACE ${path} HTTP/1.1`,
      )
      assert.ok([404, 405].includes(status), `TRACE ${path}: ${status}`)
      assert.ok(!text.includes('yellow'))
    }
    const { text } = await rawRequest(port, [], 'CONNECT evil.example:443 HTTP/1.1')
    assert.doesNotMatch(text, /^HTTP\/1\.1 2/)
  })

  test('I4 respond to HEAD as to GET, without the body', async (t) => {
    const { ada } = await siteWithAda(t)
    for (const { method, path } of everywhere) {
      if (method !== 'GET') continue
      for (const accept of ['text/html', '*/*']) {
        const got = await ada.send('GET', path, { accept })
        const head = await ada.send('HEAD', path, { accept })
        assert.deepEqual([head.status, head.text], [got.status, ''], path)
        // The home page shows how long the request took.
        const own = { date: undefined, ...(path === '/' && { 'content-length': undefined }) }
        assert.deepEqual({ ...head.headers, ...own }, { ...got.headers, ...own }, path)
      }
    }
  })

  test('L5 send no-store for pages and JSON', async (t) => {
    const { site, ada } = await siteWithAda(t)
    for (const { method, path } of routes) {
      for (const visitor of [ada, site.visitor()]) {
        if (visitor === ada && method === 'POST') continue
        for (const accept of ['text/html', 'application/json']) {
          const { headers, request } = await visitor.send(method, path, { accept })
          assert.equal(headers['cache-control'], 'no-store', request)
        }
      }
    }
  })
})
