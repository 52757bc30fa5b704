import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { addPasskey, passkeySite } from '../../testing/passkey-visitor.ts'
import { basic, password, signIn, signUp } from '../../testing/people.ts'
import { ageSessions, turnOnApp } from '../../testing/second-factor.ts'
import { startSite } from '../../testing/site.ts'

/** A site, and a user whose sign-in is eleven minutes old. */
async function siteWithStaleSession(t: TestContext) {
  const site = await startSite(t)
  const person = await signUp(site)
  const ada = await signIn(site, person, { remember: true })
  await ageSessions(site)
  return { site, person, ada }
}

const sensitive: [path: string, body: Record<string, string>, back: string][] = [
  ['/account/security/totp', {}, '/account/security/totp'],
  ['/account/passkeys/x/name', { name: 'Key' }, '/account/security'],
  ['/account/security/recovery-codes', {}, '/account/security'],
]

describe('a sensitive action more than ten minutes after the sign-in', () => {
  test('T14 needs a confirmation', async (t) => {
    const { ada } = await siteWithStaleSession(t)
    for (const [path, body, back] of sensitive) {
      const json = await ada.json(path, body)
      assert.deepEqual([json.status, json.record.code], [401, 'confirmation_required'], path)
      const form = await ada.form(path, body)
      const location = `/confirm?next=${encodeURIComponent(back)}`
      assert.deepEqual([form.status, form.headers.location], [303, location])
    }
    assert.equal((await ada.get('/account/sessions')).status, 200, 'the session still works')
  })

  test('T14 needs the password or a confirmation to change the address or close the account', async (t) => {
    const { ada } = await siteWithStaleSession(t)
    for (const [path, body] of [
      ['/account/email', { email: 'new@example.com' }],
      ['/account/close', { confirm: 'on' }],
    ] as const) {
      assert.equal((await ada.json(path, body)).record.code, 'confirmation_required')
      const form = await ada.form(path, body)
      assert.equal(form.status, 400)
      assert.match(form.text, /Enter your current password/)
    }
    assert.equal((await ada.json('/account/close', { password })).status, 204)
  })

  test('T14 needs no confirmation with Basic', async (t) => {
    const { site, person } = await siteWithStaleSession(t)
    assert.equal((await site.visitor().json('/account/security/totp', {}, basic(person))).status, 200)
  })
})

describe('P11 the password of an account with an authenticator app', () => {
  test('is not enough to change the factors, the address or the password, or to close the account', async (t) => {
    const { site, ada, visitor } = await passkeySite(t)
    await addPasskey(visitor)
    const app = await turnOnApp(site, ada)
    const thief = app.visitor
    await ageSessions(site)
    const next = { password: 'eight wise canaries 1816', confirmPassword: 'eight wise canaries 1816' }
    const routes: [path: string, body: Record<string, string>, page: string][] = [
      ['/account/security/totp/remove', {}, '/account/security'],
      ['/account/security/recovery-codes', {}, '/account/security'],
      ['/account/passkeys', { credential: '{}' }, '/account/security'],
      ['/account/email', { email: 'new@example.com', password }, '/account/email'],
      ['/account/password', { currentPassword: password, ...next }, '/account/password'],
      ['/account/close', { password, confirm: 'on' }, '/account/close'],
    ]
    const confirmed = await thief.json('/confirm', { password })
    assert.deepEqual([confirmed.status, confirmed.record.code], [401, 'second_factor_required'])
    assert.equal((await thief.form('/confirm', { password })).status, 400)
    assert.doesNotMatch((await thief.page('/confirm')).text, /type="password"/)
    for (const [path, body, page] of routes) {
      assert.equal((await thief.json(path, body)).record.code, 'confirmation_required', path)
      const form = await thief.form(path, body)
      assert.equal(form.headers.location, `/confirm?next=${encodeURIComponent(page)}`, path)
    }
    for (const path of ['/account/email', '/account/password', '/account/close'])
      assert.equal((await thief.page(path)).status, 303, path)
    assert.equal((await thief.json('/confirm', { code: app.recoveryCodes[0] })).status, 204)
    assert.equal((await thief.page('/account/email')).status, 200)
    assert.equal((await thief.json('/account/email', { email: 'new@example.com' })).status, 202)
    assert.equal((await thief.json('/account/security/totp/remove', {})).status, 204)
  })
})

describe('/confirm', () => {
  test('T8 T14 accepts the password, allows sensitive actions for ten minutes, and changes the session identifier', async (t) => {
    const { site, ada } = await siteWithStaleSession(t)
    const before = ada.session
    const { status, headers, cookies } = await ada.form('/confirm', { password, next: '/account/security' })
    assert.deepEqual([status, headers.location], [303, '/account/security'])
    assert.ok(
      cookies.some((each) => /^session=[\w-]{43}; Max-Age=2592000;/.test(each)),
      'the session stays persistent',
    )
    assert.notEqual(ada.session, before)
    assert.equal((await site.visitor(before).get('/me')).status, 401)
    assert.equal((await sql(site, 'select * from sessions')).length, 1)
    assert.equal((await ada.json('/account/security/totp', {})).status, 200)
    await ageSessions(site)
    assert.equal((await ada.json('/account/security/totp', {})).status, 401)
  })

  test('shows the purpose of the confirmation, and a notice on the next page', async (t) => {
    const { ada } = await siteWithStaleSession(t)
    const { text } = await ada.page('/confirm?next=/account/security')
    assert.match(text, /Before you change how you sign in, confirm that it is you/)
    assert.match(text, /<a href="\/account\/security">Cancel/)
    await ada.form('/confirm', { password, next: '/account/security' })
    assert.match((await ada.page('/account/security')).text, /Thank you\. You can continue now\./)
  })

  test('asks for the code, not for the password, if the code is empty', async (t) => {
    const site = await startSite(t)
    const { visitor } = await turnOnApp(site, await signUp(site))
    const { status, text } = await visitor.form('/confirm', { code: ' ' })
    assert.equal(status, 400)
    assert.match(text, /Enter the code of the app/)
    assert.doesNotMatch(text, /Enter your current password/)
  })

  test('T14 rejects a wrong password with 401, and changes nothing', async (t) => {
    const { site, ada } = await siteWithStaleSession(t)
    for (const wrong of ['wrong', '']) {
      const form = await ada.form('/confirm', { password: wrong, next: '/account/security' })
      assert.equal(form.status, 401)
      assert.match(form.text, /name="next" value="\/account\/security"/)
      assert.equal((await ada.json('/confirm', { password: wrong })).record.code, 'wrong_credentials')
    }
    assert.equal((await ada.json('/account/security/totp', {})).status, 401)
    assert.equal((await sql(site, 'select * from sessions')).length, 1)
  })

  test('T14 accepts a code of the authenticator app, and the renewed session still counts as signed in with a second factor', async (t) => {
    const site = await startSite(t)
    const app = await turnOnApp(site, await signUp(site))
    await ageSessions(site)
    assert.equal((await app.visitor.json('/confirm', { code: '000000' })).record.code, 'second_factor_wrong')
    assert.equal((await app.visitor.json('/confirm', { code: app.nextCode() })).status, 204)
    const codes = await app.visitor.json('/account/security/recovery-codes', {})
    assert.equal(codes.status, 200)
    assert.equal((codes.record.recoveryCodes as string[]).length, 10)
  })

  test('T14 H1 does not redirect to another site', async (t) => {
    const { ada } = await siteWithStaleSession(t)
    const { headers } = await ada.form('/confirm', { password, next: '//evil.example' })
    assert.equal(headers.location, '/account')
  })

  test('T14 requires a session', async (t) => {
    const { site, person } = await siteWithStaleSession(t)
    assert.equal((await site.visitor().json('/confirm', { password })).status, 401)
    assert.equal((await site.visitor().page('/confirm')).headers.location, '/login?next=%2Fconfirm')
    assert.equal((await site.visitor().json('/confirm', { password }, basic(person))).status, 400)
  })
})
