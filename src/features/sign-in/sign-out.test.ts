import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { count, sql } from '../../testing/database.ts'
import { basic, bearer, signIn, signUp, takeToken } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'

const cleared = 'session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'

describe('POST /logout', () => {
  test('E5 as a form ends the session on the server, clears the cookie and redirects home with 303', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const { session } = ada
    const { status, headers, cookies } = await ada.form('/logout', {})
    assert.deepEqual([status, headers.location, cookies], [303, '/', [cleared]])
    assert.equal(headers['clear-site-data'], '"cache", "storage"')
    assert.equal(await count(site, 'sessions'), 0)
    const replay = site.visitor(session)
    assert.equal((await replay.get('/me')).status, 401)
    assert.equal((await replay.page('/account')).headers.location, '/login?next=%2Faccount')
    assert.match((await replay.page('/')).text, /Sign in/)
  })

  test('as JSON or without a body responds with 204', async (t) => {
    const { site, ada } = await siteWithAda(t)
    for (const visitor of [ada, await signIn(site, { email: 'ada@example.com' })]) {
      const { status, text, cookies } = await (visitor === ada
        ? ada.json('/logout', {})
        : visitor.post('/logout'))
      assert.deepEqual([status, text, cookies], [204, '', [cleared]])
    }
    assert.equal(await count(site, 'sessions'), 0)
  })

  test('succeeds without a session, and when repeated', async (t) => {
    const site = await startSite(t)
    assert.equal((await site.visitor().form('/logout', {})).headers.location, '/')
    assert.equal((await site.visitor('x'.repeat(43)).post('/logout')).status, 204)
    const ada = await signIn(site, await signUp(site))
    const { session } = ada
    assert.equal((await ada.post('/logout')).status, 204)
    assert.equal((await site.visitor(session).post('/logout')).status, 204)
  })

  test('ends only the current session, and no token', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const [phone, desktop] = [await signIn(site, person), await signIn(site, person)]
    const token = await takeToken(site, person)
    await phone.post('/logout')
    assert.equal((await phone.get('/me')).status, 401)
    assert.equal((await desktop.get('/me')).status, 200)
    assert.equal((await site.visitor().get('/me', bearer(token))).status, 200)
  })

  test('ends the session of a disabled user too', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await sql(site, 'update users set disabled_at = 1')
    assert.equal((await ada.post('/logout')).status, 204)
    assert.equal(await count(site, 'sessions'), 0)
  })

  test('ends the session in the cookie, regardless of the Authorization header', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    for (const header of [basic(person), basic(person, 'wrong'), bearer('x')]) {
      const ada = await signIn(site, person)
      const { session } = ada
      assert.equal((await ada.post('/logout', header)).status, 204)
      assert.equal((await site.visitor(session).get('/me')).status, 401)
    }
    assert.equal(await count(site, 'sessions'), 0)
  })

  test('G4 requires POST, so that a link does not sign out', async (t) => {
    const { ada } = await siteWithAda(t)
    const { status, headers } = await ada.page('/logout')
    assert.deepEqual([status, headers.allow], [405, 'POST'])
    assert.equal((await ada.get('/me')).status, 200)
  })
})
