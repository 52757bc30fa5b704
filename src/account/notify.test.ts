import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sql } from '../testing/database.ts'
import { basic, password, signIn, signUp, takeResetToken } from '../testing/people.ts'
import { receiveMail, receiveMails } from '../testing/receive-mails.ts'
import { startSite } from '../testing/site.ts'

const newPassword = 'eight wise canaries 1816'
const passwords = { password: newPassword, confirmPassword: newPassword }
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const headers = { 'user-agent': firefox }

/** A site with a user whose address is verified, and who has signed in. */
async function siteWithAda(t: TestContext) {
  const site = await startSite(t, { THROTTLE: 'on' })
  const ada = await signUp(site)
  await sql(site, 'update users set email_verified_at = 1')
  const visitor = await signIn(site, ada)
  await receiveMails(site)
  return { site, ada, visitor }
}

describe('notify', () => {
  test('Q5 sends a notice of a sign-in from a new device, with time, device and network', async (t) => {
    const { site, ada, visitor } = await siteWithAda(t)
    await visitor.form('/login', { username: ada.email, password }, headers)
    assert.deepEqual(await receiveMails(site), [], 'a known device')

    const before = Math.floor(Date.now() / 60_000)
    const answer = await site.visitor().form('/login', { username: ada.email, password }, headers)
    assert.equal(answer.status, 303)
    const { to, subject, text, html } = await receiveMail(site)
    assert.deepEqual([to, subject], [ada.email, 'New sign-in to your account at koa-authenticators'])
    assert.match(text, /^Hello Ada,$/m)
    assert.match(text, /^Device: Firefox on Linux$/m)
    assert.match(text, /^Network: 127\.0\.0\.1$/m)
    assert.match(text, /^If it was not you, choose a new password\.[\s\S]+^This wasn't me:\n.+\/forgot$/m)
    const [, at = ''] = /^Time: (.+) UTC$/m.exec(text) ?? []
    const minute = Date.parse(`${at.replace(' at ', ' ')} UTC`) / 60_000
    assert.ok(minute >= before && minute <= before + 1, at)
    assert.doesNotMatch(text + html, /token=/)
  })

  test('Q5 sends one notice of a password in an Authorization header from one network, even after concurrent requests, and another one after a password change', async (t) => {
    const { site, ada, visitor } = await siteWithAda(t)
    const agent = { 'user-agent': 'curl/8.5.0' }
    const send = () => site.visitor().post('/login', { ...basic(ada), ...agent })
    for (const { status } of await Promise.all([send(), send(), send()])) assert.equal(status, 200)
    const { to, subject, text } = await receiveMail(site)
    assert.deepEqual(
      [to, subject],
      [ada.email, 'New use of your password by a program at koa-authenticators'],
    )
    assert.match(text, /^Device: A program \(curl\)$/m)
    assert.match(text, /^Network: 127\.0\.0\.1$/m)
    assert.match(text, /^If it was not you, choose a new password\./m)

    for (const as of ['', '?as=jwt', '?as=user'])
      assert.equal((await site.visitor().post(`/login${as}`, basic(ada))).status, 200)
    await visitor.json('/account/name', { name: 'Ada' }, basic(ada))
    assert.deepEqual(await receiveMails(site), [], 'the same network')

    await visitor.form('/account/password', { currentPassword: password, ...passwords })
    await receiveMails(site)
    assert.equal((await site.visitor().get('/account/sessions', basic(ada, newPassword))).status, 200)
    assert.match(
      (await receiveMail(site)).subject,
      /by a program at koa-authenticators$/,
      'after a password change',
    )
  })

  test('Q5 sends no notice of Basic credentials from a known device, or to an unverified address', async (t) => {
    const { site, ada, visitor } = await siteWithAda(t)
    assert.equal((await visitor.post('/login', basic(ada))).status, 200)
    await sql(site, 'update users set email_verified_at = null')
    assert.equal((await site.visitor().post('/login', basic(ada))).status, 200)
    assert.deepEqual(await receiveMails(site), [])
  })

  test('Q5 sends notices of a new password, a reset and a closed account', async (t) => {
    const { site, ada, visitor } = await siteWithAda(t)
    assert.equal(
      (await visitor.form('/account/password', { currentPassword: password, ...passwords })).status,
      303,
    )
    assert.match((await receiveMail(site)).subject, /Your password was changed at koa-authenticators$/)

    const token = await takeResetToken(site, ada)
    assert.equal((await site.visitor().json('/reset', { token, ...passwords })).status, 204)
    assert.match((await receiveMail(site)).subject, /Your password was reset at koa-authenticators$/)

    const closing = await site
      .visitor()
      .json('/account/close', { password: newPassword }, basic(ada, newPassword))
    assert.equal(closing.status, 204)
    const { subject, to, text } = await receiveMail(site)
    assert.match(subject, /Your account was closed at koa-authenticators$/)
    assert.equal(to, ada.email)
    assert.match(text, /^If it was not you, contact us at once\.$/m)
  })

  test('Q5 sends nothing to an address that is not verified', async (t) => {
    const { site, ada, visitor } = await siteWithAda(t)
    await sql(site, 'update users set email_verified_at = null')
    await signIn(site, ada)
    await visitor.form('/account/password', { currentPassword: password, ...passwords })
    await site.visitor().json('/account/close', { password: newPassword }, basic(ada, newPassword))
    assert.deepEqual(await receiveMails(site), [])
    assert.deepEqual(await sql(site, 'select * from mails'), [])
  })

  test('Q5 sends no notice of an action that failed', async (t) => {
    const { site, ada, visitor } = await siteWithAda(t)
    await visitor.form('/account/password', { currentPassword: 'wrong', ...passwords })
    await site.visitor().form('/login', { username: ada.email, password: 'wrong' })
    await visitor.form('/account/close', { password, confirm: '' })
    assert.deepEqual(await receiveMails(site), [])
  })

  test('Q5 sends at most ten notices of one kind in an hour', async (t) => {
    const { site, ada, visitor } = await siteWithAda(t)
    for (let i = 0; i < 12; i += 1) await signIn(site, ada)
    // The first sign-in of `siteWithAda` counts too.
    assert.equal((await receiveMails(site)).length, 9)
    await visitor.form('/account/password', { currentPassword: password, ...passwords })
    assert.match((await receiveMail(site)).subject, /Your password was changed at koa-authenticators$/)
  })

  test('Q6 removes the punctuation of links from the name and the device', async (t) => {
    const { site, ada, visitor } = await siteWithAda(t)
    await visitor.form('/account/name', {
      name: 'J. R. http://evil.example/a?b, a@evil.example www.evil.example',
    })
    const agent = { 'user-agent': 'evil.example/1.0' }
    await site.visitor().form('/login', { username: ada.email, password }, agent)
    const { text, html } = await receiveMail(site)
    assert.match(text, /^Hello J\. R\. http evil example a\?b, a evil example www evil example,$/m)
    assert.match(text, /^Device: A program \(evil example\)$/m)
    assert.doesNotMatch(html, /evil\.|@evil|\/evil/)
  })
})
