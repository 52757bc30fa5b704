import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cutOff, hide } from '../testing/database.ts'
import { startProxy } from '../testing/database-proxy.ts'
import { until } from '../testing/faults/until.ts'
import {
  addAdmin,
  basic,
  bearer,
  password,
  registration,
  signIn,
  signUp,
  takeJWT,
  takeToken,
} from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'
import { makeDatabase, onlyPostgres } from '../testing/test-database.ts'

/** Requests that succeed if the database is available. */
async function userRequests(site: Site) {
  const person = await signUp(site)
  const ada = await signIn(site, person)
  const [token, jwt] = [await takeToken(site, person), await takeJWT(site, person)]
  const grace = await addAdmin(site)
  const credentials = { username: person.email, password }
  const guarded = {
    'GET /me by session': () => ada.get('/me'),
    'GET /me by token': () => site.visitor().get('/me', bearer(token)),
    'GET /me by JWT': () => site.visitor().get('/me', bearer(jwt)),
    'GET /me as a page': () => ada.page('/me'),
    'GET /secure by session': () => ada.get('/secure'),
    'GET /secure by Basic': () => site.visitor().get('/secure', basic(grace)),
    'GET /secure by token': () => site.visitor().get('/secure', bearer(token)),
    'GET /account': () => ada.page('/account'),
    'GET /login by session': () => ada.page('/login'),
    'GET /signup by session': () => ada.page('/signup'),
    'POST /login by Basic': () => site.visitor().post('/login', basic(person)),
    'POST /login by form': () => site.visitor().form('/login', credentials),
    'POST /login by JSON': () => ada.json('/login', credentials),
    'POST /users': () => site.visitor().json('/users', registration('Bob')),
    'POST /users by form': () =>
      ada.form('/users', { ...credentials, name: 'B', email: 'b@example.com', confirmPassword: password }),
    'POST /logout': () => ada.post('/logout'),
    'POST /logout by form': () => ada.form('/logout', {}),
  }
  return { ada, jwt, guarded }
}

describe('an unavailable database', () => {
  test('A5 causes 503 with Retry-After, and no challenge or redirect, for requests that need the database', async (t) => {
    const site = await startSite(t)
    const { guarded } = await userRequests(site)
    await cutOff(site)
    for (const [what, request] of Object.entries(guarded)) {
      const { status, headers, cookies, challenges } = await request()
      assert.equal(status, 503, what)
      assert.match(headers['retry-after'] ?? '', /^\d+$/, what)
      assert.deepEqual([cookies, challenges, headers.location], [[], [], undefined], what)
    }
  })

  test('N2 causes a notice on public pages for a request with a session cookie, and none for other visitors', async (t) => {
    const site = await startSite(t)
    const { ada } = await userRequests(site)
    await cutOff(site)
    for (const [path, expected] of [
      ['/', 200],
      ['/nowhere', 404],
    ] as const) {
      const { status, text, cookies } = await ada.page(path)
      assert.deepEqual([status, cookies], [expected, []])
      assert.match(text, /cannot show your account right now/)
      assert.doesNotMatch(text, /<bdi>Ada|Sign out/)
    }
    for (const path of ['/', '/login', '/signup', '/style.css'])
      assert.equal((await site.visitor().page(path)).status, 200, path)
    assert.doesNotMatch(
      (await site.visitor().page('/')).text,
      /cannot show your account/,
      'a visitor without a cookie sees the usual page',
    )
  })

  test('makes sign-out fail with 503, and keeps the session', async (t) => {
    const site = await startSite(t)
    const { ada } = await userRequests(site)
    for (const table of ['sessions', 'users'] as const) {
      const restore = await hide(site, table)
      for (const answer of [await ada.post('/logout'), await ada.form('/logout', {})]) {
        const { status, cookies, headers } = answer
        assert.deepEqual([status, cookies, headers['clear-site-data']], [503, [], undefined], table)
      }
      await restore()
      assert.equal((await ada.get('/me')).status, 200)
    }
  })

  test('does not affect requests that need no database query: a JWT is valid, and an anonymous request gets 401 or a redirect', async (t) => {
    const site = await startSite(t)
    const { jwt } = await userRequests(site)
    await cutOff(site)
    assert.equal((await site.visitor().post('/validateLoggedInUser', bearer(jwt))).status, 200)
    assert.equal((await site.visitor().get('/me')).status, 401)
    assert.equal((await site.visitor().get('/me', bearer('kauth_x'))).status, 401)
    assert.equal((await site.visitor().page('/account')).status, 303)
  })

  test('N2 recovers without a restart', async (t) => {
    const site = await startSite(t)
    const { ada, guarded } = await userRequests(site)
    const restore = await hide(site, 'users', 'user_tokens', 'admins', 'sessions')
    for (const [what, request] of Object.entries(guarded)) assert.equal((await request()).status, 503, what)
    await restore()
    assert.equal((await ada.get('/me')).status, 200)
    for (const [what, request] of Object.entries(guarded)) assert.ok((await request()).status < 400, what)
  })

  test('is logged once, without statements and values', async (t) => {
    const site = await startSite(t)
    const { guarded } = await userRequests(site)
    await hide(site, 'users', 'user_tokens', 'admins', 'sessions')
    site.log.length = 0
    for (const request of Object.values(guarded)) await request()
    const errors = site.log.filter((line) => JSON.parse(line).level === 50)
    assert.equal(errors.length, 1)
    assert.match(errors.join(), /the database is unavailable/)
    for (const line of errors) assert.doesNotMatch(line, /select|insert|example\.com/i)
    assert.doesNotMatch(site.log.join(''), /"authentication"/, 'no audit event')
  })
})

describe('a PostgreSQL server that does not respond', onlyPostgres, () => {
  test('N2 causes 503 for requests that need the database, but not for public pages', async (t) => {
    const database = await makeDatabase('')
    const proxy = await startProxy(t, database.url)
    const variables = { DATABASE_URL: proxy.url, DATABASE_POOL: '4' }
    const site = await startSite(t, variables, { databaseTimeout: 5_000 })
    t.after(() => database.drop())
    const { ada, guarded } = await userRequests(site)
    proxy.dropData()
    const answers = await Promise.all(Object.values(guarded).map((request) => request()))
    for (const { request, status } of answers) assert.equal(status, 503, request)
    for (const visitor of [ada, site.visitor()]) assert.equal((await visitor.page('/')).status, 200)
    assert.equal((await site.visitor().get('/readyz')).status, 503)
    proxy.recover()
    await until('the site has recovered', async () => (await ada.get('/me')).status === 200)
  })
})

describe('GET /healthz', () => {
  test('N13 is 200 while the process serves, with or without the database', async (t) => {
    const site = await startSite(t)
    assert.deepEqual(await probe(site, '/healthz'), [200, 'ok'])
    await cutOff(site)
    site.lifecycle.isDraining = true
    assert.deepEqual(await probe(site, '/healthz'), [200, 'ok'])
  })
})

describe('GET /readyz', () => {
  test('N13 is 200 if the database responds, else 503', async (t) => {
    const site = await startSite(t)
    assert.deepEqual(await probe(site, '/readyz'), [200, 'ok'])
    await cutOff(site)
    assert.deepEqual(await probe(site, '/readyz'), [503, 'unavailable'])
  })

  test('is 503 while draining, and other routes are still served', async (t) => {
    const site = await startSite(t)
    site.lifecycle.isDraining = true
    assert.deepEqual(await probe(site, '/readyz'), [503, 'unavailable'])
    assert.equal((await site.visitor().page('/')).status, 200)
    assert.equal((await site.visitor().json('/users', registration('Ada'))).status, 201)
  })
})

async function probe(site: Site, path: string): Promise<[number, string]> {
  const { status, text, cookies } = await site.visitor().get(path)
  assert.deepEqual(cookies, [])
  return [status, text]
}
