import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { count, sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import { password, registration, signIn, signUp, takeResetToken } from '../../testing/people.ts'
import { routes } from '../../testing/routes.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { type Site, startSite } from '../../testing/site.ts'

const newPassword = 'eight wise canaries 1816'

/** A user with an authenticator app, and a browser with a pending sign-in. */
async function siteWithPending(t: TestContext, environment: Record<string, string> = {}) {
  const site = await startSite(t, environment)
  site.secrets.add(newPassword)
  const ada = await signUp(site)
  const app = await turnOnApp(site, ada)
  const start = async (fields: Record<string, string> = {}, visitor = site.visitor()) => {
    const { status, headers } = await visitor.form('/login', { username: ada.email, password, ...fields })
    assert.equal(status, 303)
    assert.match(headers.location ?? '', /^\/login\/code(\?next=|$)/)
    return visitor
  }
  return { site, ada, app, start, pending: await start() }
}

/** Sends a code. Returns the status and the redirect target, and the status of a later request for `/me`. */
async function enter(browser: ReturnType<Site['visitor']>, code: string, fields = {}) {
  const { status, headers } = await browser.form('/login/code', { code, ...fields })
  return [status, headers.location, (await browser.get('/me')).status]
}

const rejected = [303, '/login?expired', 401]

describe('a pending sign-in', () => {
  test('T5 changes no status, redirect or cookie except on the code forms', async (t) => {
    const { site, pending } = await siteWithPending(t)
    const own = ['/login/code', '/login/recovery-code']
    const before = await dumpAll(site)
    for (const { method, path } of routes.filter((route) => !own.includes(route.path))) {
      for (const accept of ['text/html', 'application/json']) {
        const [asked, anonymous] = [
          await pending.send(method, path, { accept }),
          await site.visitor().send(method, path, { accept }),
        ]
        assert.deepEqual(
          [asked.status, asked.headers.location, asked.cookies],
          [anonymous.status, anonymous.headers.location, anonymous.cookies],
          asked.request,
        )
      }
    }
    assert.deepEqual(await dumpAll(site), before)
  })

  test('T5 is stored as a digest, and is deleted after the right code', async (t) => {
    const { site, pending, app } = await siteWithPending(t)
    const cookie = pending.cookies.get('pending-sign-in') ?? ''
    const [row] = await sql(site, 'select * from pending_sign_ins')
    assert.ok(!JSON.stringify(row).includes(cookie))
    const code = app.nextCode()
    assert.deepEqual(await enter(pending, code), [303, '/account', 200])
    assert.equal(pending.cookies.get('pending-sign-in'), undefined)
    assert.deepEqual(await sql(site, 'select * from pending_sign_ins'), [])
    const replay = site.visitor()
    replay.cookies.set('pending-sign-in', cookie)
    assert.deepEqual(await enter(replay, app.nextCode()), rejected)
  })

  test('T8 starts a session with a new identifier after the right code, and ends the previous session of the browser', async (t) => {
    const { site, app, start } = await siteWithPending(t)
    const browser = await signIn(site, await signUp(site, 'Bob'))
    const planted = browser.session
    await start({}, browser)
    assert.equal(browser.session, planted)
    assert.deepEqual(await enter(browser, app.nextCode()), [303, '/account', 200])
    assert.notEqual(browser.session, planted)
    assert.equal((await site.visitor(planted).get('/me')).status, 401)
  })

  test('T7 is not a session, even on a known device', async (t) => {
    const { app, start, pending } = await siteWithPending(t, { THROTTLE: 'on' })
    await enter(pending, app.nextCode())
    assert.ok(pending.cookies.has('device'))
    await pending.post('/logout')
    await start({}, pending)
    assert.equal((await pending.get('/me')).status, 401)
  })

  test('T5 H1 keeps `next` and `remember`, and does not redirect to another site', async (t) => {
    const { site, app, start } = await siteWithPending(t)
    const next = `/verify?token=${'t'.repeat(43)}&x=1`
    const browser = await start({ next, remember: 'on' })
    assert.doesNotMatch(JSON.stringify(await dumpAll(site)), /t{43}/, 'no row has a token in clear text')
    for (const path of ['/login/code', '/login/recovery-code']) {
      const { text } = await browser.page(`${path}?next=${encodeURIComponent(next)}`)
      assert.ok(text.includes(`name="next" value="${next.replace('&', '&amp;')}"`))
    }
    assert.deepEqual(await enter(browser, app.nextCode(), { next }), [303, next, 200])
    const { record } = await browser.get('/account/sessions')
    assert.equal((record as unknown as { kept: boolean }[]).find(Boolean)?.kept, true)
    const evil = await start({ next: '//evil.example' })
    const { headers } = await evil.form('/login/code', {
      code: app.recoveryCodes[0] ?? '',
      next: 'https://evil.example',
    })
    assert.equal(headers.location, '/account')
  })

  test('T5 F1 uses a __Host- cookie with TLS', async (t) => {
    const { pending, app } = await siteWithPending(t, { PUBLIC_URL: 'https://auth.example' })
    assert.match(pending.cookies.get('__Host-pending-sign-in') ?? '', /^[\w-]{43}$/)
    assert.deepEqual((await enter(pending, app.nextCode())).slice(0, 2), [303, '/account'])
  })

  test('T5 expires after ten minutes', async (t) => {
    const { site, pending, app } = await siteWithPending(t)
    const [row] = await sql(site, 'select created_at, expires_at from pending_sign_ins')
    assert.equal(Number(row?.expires_at) - Number(row?.created_at), 10 * 60_000)
    await sql(site, 'update pending_sign_ins set expires_at = ?', [Date.now() - 1])
    assert.equal((await pending.page('/login/code')).headers.location, '/login?expired')
    assert.deepEqual(await enter(pending, app.nextCode()), rejected)
  })

  test('T5 E9 is rejected after the account was disabled or deleted', async (t) => {
    const { site, pending, app, start, ada } = await siteWithPending(t)
    const other = await start()
    await sql(site, 'update users set disabled_at = ? where id = ?', [Date.now(), ada.id])
    assert.deepEqual(await enter(pending, app.nextCode()), rejected)
    await sql(site, 'update users set disabled_at = null')
    await sql(site, 'delete from users where id = ?', [ada.id])
    assert.deepEqual(await enter(other, app.nextCode()), rejected)
  })

  test('T5 E10 is rejected after a password change or a password reset', async (t) => {
    const { site, pending, app, ada, start } = await siteWithPending(t)
    const passwords = { password: newPassword, confirmPassword: newPassword }
    assert.equal(
      (await app.visitor.json('/account/password', { currentPassword: password, ...passwords })).status,
      200,
    )
    assert.equal((await app.visitor.get('/me')).status, 200)
    assert.deepEqual(await enter(pending, app.nextCode()), rejected)
    const other = await start({ password: newPassword })
    const token = await takeResetToken(site, ada)
    assert.equal((await site.visitor().json('/reset', { token, ...passwords })).status, 204)
    assert.deepEqual(await enter(other, app.nextCode()), rejected)
  })

  test('T6 starts at the first sign-in after a password reset, which keeps the app and the recovery codes', async (t) => {
    const { site, app, ada } = await siteWithPending(t)
    await sql(site, 'update users set email_verified_at = 1')
    const browser = site.visitor()
    const token = await takeResetToken(site, ada)
    const passwords = { password: newPassword, confirmPassword: newPassword }
    const reset = await browser.form('/reset', { token, ...passwords })
    assert.deepEqual([reset.status, reset.headers.location], [303, '/login'])
    assert.equal((await browser.get('/me')).status, 401)
    const signIn = { username: ada.email, password: newPassword }
    assert.equal((await browser.json('/login', signIn)).record.code, 'second_factor_required')
    assert.equal((await browser.form('/login', signIn)).headers.location, '/login/code')
    assert.deepEqual(await enter(browser, app.recoveryCodes[0] ?? ''), [303, '/account', 200])
  })

  test('does not prevent a sign-up in the same browser', async (t) => {
    const { site, pending } = await siteWithPending(t)
    const fields = registration('Bob') as Record<string, string>
    assert.equal((await pending.form('/users', fields)).headers.location, '/account')
    assert.equal((await pending.get('/me')).record.name, 'Bob')
    assert.equal(await count(site, 'users'), 2)
  })

  test('T5 rejects JSON with 415, and shows the form again if the code is empty', async (t) => {
    const { pending, app } = await siteWithPending(t)
    assert.equal((await pending.json('/login/code', { code: app.nextCode() })).status, 415)
    const { status, text } = await pending.form('/login/code', { code: ' ' })
    assert.equal(status, 400)
    assert.match(text, /Enter the code of the app\./)
  })

  test('T5 M6 can be finished on another server with the same database', async (t) => {
    const SECRETS_KEY = `key:${randomBytes(32).toString('base64')}`
    const { site, pending, app } = await siteWithPending(t, { SECRETS_KEY })
    const other = await startSite(t, { SECRETS_KEY, DATABASE_URL: site.config.databaseUrl })
    const there = other.visitor()
    for (const [name, value] of pending.cookies) there.cookies.set(name, value)
    assert.equal((await there.page('/login/code')).status, 200)
    assert.deepEqual(await enter(there, app.nextCode()), [303, '/account', 200])
  })
})
