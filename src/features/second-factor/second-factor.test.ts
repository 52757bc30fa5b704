import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { count } from '../../testing/database.ts'
import { basic, bearer, password, signIn, signUp, takeJWT, takeToken } from '../../testing/people.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { startSite } from '../../testing/site.ts'

describe('an account with an authenticator app', () => {
  test('T6 does not sign in with the password alone, by form, JSON or Basic', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    await turnOnApp(site, ada)
    const sessions = await count(site, 'sessions')

    const form = await site.visitor().form('/login', { username: ada.email, password })
    assert.deepEqual([form.status, form.headers.location], [303, '/login/code'])
    assert.ok(!form.cookies.some((each) => each.startsWith('session=')))

    const json = await site.visitor().json('/login', { username: ada.email, password })
    assert.deepEqual([json.status, json.record.code], [401, 'second_factor_required'])
    const wrong = await site.visitor().json('/login', { username: ada.email, password, code: '000000' })
    assert.deepEqual([wrong.status, wrong.record.code], [401, 'second_factor_wrong'])

    const basicRequests = [
      ['POST', '/login'],
      ['POST', '/login?as=jwt'],
      ['POST', '/login?as=user'],
      ['GET', '/account/activity'],
      ['GET', '/account/sessions'],
      ['GET', '/account/security'],
      ['POST', '/account/security/totp/remove'],
      ['POST', '/account/password'],
      ['POST', '/account/close'],
    ] as const
    for (const [method, path] of basicRequests) {
      const { status, record } = await site.visitor().send(method, path, basic(ada))
      assert.deepEqual([status, record.code], [403, 'second_factor_required'], `${method} ${path}`)
      assert.equal((await site.visitor().send(method, path, basic(ada, 'wrong'))).status, 401, path)
    }
    assert.equal(await count(site, 'sessions'), sessions)
    assert.equal(await count(site, 'user_tokens'), 0)
  })

  test('T5 T6 signs in with the password and a code, by form and by JSON', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    const app = await turnOnApp(site, ada)

    const browser = site.visitor()
    const signIn = { username: ada.email, password, next: '/account/sessions', remember: 'on' }
    const { location } = (await browser.form('/login', signIn)).headers
    assert.equal(location, '/login/code?next=%2Faccount%2Fsessions')
    assert.equal((await browser.page(location)).status, 200)
    const { status, headers, cookies } = await browser.form('/login/code', {
      code: app.nextCode(),
      next: '/account/sessions',
    })
    assert.deepEqual([status, headers.location], [303, '/account/sessions'])
    assert.ok(cookies.some((each) => /^session=[\w-]{43}; Max-Age=2592000;/.test(each)))
    assert.equal((await browser.get('/me')).record.id, ada.id)

    const program = site.visitor()
    const signedIn = await program.json('/login', { username: ada.email, password, code: app.nextCode() })
    assert.deepEqual([signedIn.status, signedIn.record.id], [200, ada.id])
    assert.equal((await program.get('/account/sessions')).status, 200)
  })

  test('loses its other sessions and keeps its tokens when the app is turned on', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    const [other, token, jwt] = [
      await signIn(site, ada),
      await takeToken(site, ada),
      await takeJWT(site, ada),
    ]
    const { visitor } = await turnOnApp(site, ada)
    assert.equal((await other.get('/me')).status, 401)
    assert.equal((await visitor.get('/me')).status, 200)
    for (const each of [token, jwt]) assert.equal((await site.visitor().get('/me', bearer(each))).status, 200)
  })

  test('T5 cannot finish a pending sign-in after the app is removed', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    const app = await turnOnApp(site, ada)
    const pending = site.visitor()
    await pending.form('/login', { username: ada.email, password })
    assert.equal((await app.visitor.json('/account/security/totp/remove', {})).status, 204)
    const { status, headers } = await pending.form('/login/code', { code: app.nextCode() })
    assert.deepEqual([status, headers.location], [303, '/login?expired'])
    assert.equal((await pending.get('/me')).status, 401)
    assert.equal(
      (await site.visitor().form('/login', { username: ada.email, password })).headers.location,
      '/account',
    )
  })
})

describe('POST /login/code', () => {
  test('H1 redirects to the sign-in page if no sign-in is pending, and drops an unsafe `next`', async (t) => {
    const visitor = (await startSite(t)).visitor()
    const locations: [string, string][] = [
      ['/account/sessions', '/login?expired&next=%2Faccount%2Fsessions'],
      ['//evil.example', '/login?expired'],
      ['\ud800', '/login?expired'],
    ]
    for (const [next, location] of locations) {
      const { status, headers } = await visitor.json(
        '/login/code',
        { next, code: '1' },
        { accept: 'text/html' },
      )
      assert.deepEqual([status, headers.location], [303, location])
    }
  })
})
