import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { count, dump, sql } from '../../testing/database.ts'
import { basic, bearer, password, signIn, signUp, takeJWT, takeToken } from '../../testing/people.ts'
import { ageSessions } from '../../testing/second-factor.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'

const path = '/account/close'
const close = { password, confirm: 'on' }

describe('GET /account/close', () => {
  test('is a form with a checkbox to confirm, and asks for the password if the session is not fresh', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    assert.doesNotMatch((await ada.page(path)).text, /type="password"/)
    await ageSessions(site)
    const { status, text, headers } = await ada.page(path)
    assert.deepEqual([status, headers['cache-control']], [200, 'no-store'])
    assert.match(text, new RegExp(`name="username" value="${person.email}" autocomplete="username" readonly`))
    assert.match(text, /<input id="password" name="password" type="password" autocomplete="current-password"/)
    assert.match(text, /<input id="confirm" name="confirm" type="checkbox" value="on"[^>]*>\n/)
    assert.doesNotMatch(text, /<input id="confirm"[^>]* checked/)
  })
})

describe('POST /account/close', () => {
  test('deletes the account with its sessions, tokens and devices, signs out, and confirms the deletion', async (t) => {
    const { site, ada, person } = await siteWithAda(t, { THROTTLE: 'on' })
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const bobsToken = await takeToken(site, { email: 'bob@example.com' })
    const other = await signIn(site, person)
    const [token, jwt] = [await takeToken(site, person), await takeJWT(site, person)]
    const old = ada.session
    await ada.form('/account/name', { name: 'Ada Canary' })
    const { status, headers } = await ada.form(path, close)
    assert.deepEqual(
      [status, headers.location, headers['clear-site-data']],
      [303, '/account/closed', '"cache", "storage"'],
    )
    assert.equal(ada.session, undefined, 'the cookie is cleared')
    const closed = await ada.page('/account/closed')
    assert.equal(closed.status, 200)
    assert.match(closed.text, /<h1>Your account is closed<\/h1>/)

    for (const each of [site.visitor(old), other]) assert.equal((await each.get('/me')).status, 401)
    for (const route of ['/me', '/secure'])
      for (const each of [token, jwt])
        assert.equal((await site.visitor().get(route, bearer(each))).status, 401, route)
    assert.equal((await site.visitor().post('/login', basic(person))).status, 401)
    const details = await sql(site, 'select distinct detail from events where user_id = ?', [person.id])
    assert.deepEqual(details, [{ detail: null }], 'the events do not contain the name any more')
    const rows = await dump(site)
    assert.ok(!JSON.stringify(rows).includes(person.id))
    assert.ok(!JSON.stringify(rows).includes('ada@example.com'))
    assert.deepEqual(await sql(site, 'select count(*) as n from devices where user_id = ?', [person.id]), [
      { n: 0 },
    ])
    assert.equal((await bob.get('/me')).status, 200)
    assert.equal((await site.visitor().get('/me', bearer(bobsToken))).status, 200)
    await signUp(site, 'Ada')
    assert.equal(
      (await site.visitor().get('/me', bearer(jwt))).status,
      401,
      'the old JWT is invalid for a new account with the same address',
    )
  })

  test('responds with 204 to JSON, by session and by Basic', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const bySession = await ada.json(path, { password })
    assert.deepEqual([bySession.status, bySession.text, ada.session], [204, '', undefined])
    assert.equal(await count(site, 'users'), 0)

    await signUp(site, 'Ada')
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const byBasic = await bob.json(path, { password }, basic(person))
    assert.deepEqual([byBasic.status, byBasic.cookies], [204, []])
    assert.deepEqual(await sql(site, 'select name from users'), [{ name: 'Bob' }])
    assert.equal((await bob.get('/me')).status, 200, 'the session of another user remains')
  })

  test('changes nothing if the password is wrong or the confirmation is missing, and reports both errors', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const before = await dump(site)
    const neither = await ada.form(path, { password: 'wrong canary' })
    assert.equal(neither.status, 400)
    assert.match(neither.text, /<title>Error: Close your account/)
    assert.match(neither.text, /<a href="#password">This is not your current password\.<\/a>/)
    assert.match(
      neither.text,
      /<a href="#confirm">Tick the box to confirm that you want to close your account\.<\/a>/,
    )
    assert.match(neither.text, /id="confirm"[^>]*aria-describedby="confirm-error" aria-invalid="true"/)
    assert.ok(!neither.text.includes('wrong canary'))
    const unticked = await ada.form(path, { password })
    assert.deepEqual([unticked.status, /#password/.test(unticked.text)], [400, false])
    const wrong = await ada.form(path, { ...close, password: 'wrong canary' })
    assert.equal(wrong.status, 400)
    assert.match(wrong.text, /id="confirm"[^>]* checked/)
    for (const value of [null, '', 0, true, [password], { $ne: '' }, 'wrong canary'])
      assert.equal((await ada.json(path, { password: value })).status, 400)
    for (const body of [{}, { confirm: 'on' }, { confirm: 1 }])
      assert.equal((await ada.json(path, body)).status, 400)
    const large = { 'content-type': 'application/json' }
    assert.equal((await ada.send('POST', path, large, `{"password":"${'x'.repeat(1e6)}"}`)).status, 413)
    assert.deepEqual(await dump(site), before)
    assert.equal((await ada.get('/me')).status, 200)
  })

  test('closes the account of a fresh session without the password', async (t) => {
    const { site, ada } = await siteWithAda(t)
    assert.equal((await ada.json(path, { confirm: true })).status, 204)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    assert.equal((await bob.form(path, { confirm: 'on' })).headers.location, '/account/closed')
    assert.equal(await count(site, 'users'), 0)
  })
})

describe('GET /account/closed', () => {
  test('redirects a signed-in user', async (t) => {
    const { ada } = await siteWithAda(t)
    const { status, headers } = await ada.page('/account/closed')
    assert.deepEqual([status, headers.location], [303, '/account'])
  })
})
