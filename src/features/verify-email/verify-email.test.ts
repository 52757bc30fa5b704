import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import {
  basic,
  bearer,
  password,
  registration,
  signIn,
  signUp,
  takeResetToken,
  takeToken,
} from '../../testing/people.ts'
import { receiveMail, receiveMails } from '../../testing/receive-mails.ts'
import { type Site, startSite } from '../../testing/site.ts'

const newPassword = 'eight wise canaries 1816'
const passwords = { password: newPassword, confirmPassword: newPassword }

/** A site with a user who is signed in, and the token from the mail of the sign-up. */
async function siteWithAda(t: TestContext, environment = {}) {
  const site = await startSite(t, environment)
  const ada = await signUp(site)
  const { token, ...mail } = await receiveMail(site)
  return { site, ada, token, mail, visitor: await signIn(site, ada) }
}

async function isVerified(site: Site): Promise<boolean> {
  const [user] = await sql(site, 'select email_verified_at from users order by id')
  return user?.email_verified_at != null
}

describe('sign-up', () => {
  test('mails a link to confirm the address, without the name of the user', async (t) => {
    const { site, ada, token, mail } = await siteWithAda(t)
    assert.deepEqual(
      [mail.to, mail.subject],
      [ada.email, 'Confirm your e-mail address at koa-authenticators'],
    )
    assert.ok(mail.text.includes(`\n${site.url}/verify?token=${token}\n`))
    assert.match(mail.text, /works once, for 3 days\./)
    assert.doesNotMatch(mail.text + mail.html, /\bAda\b/)
    assert.equal(await isVerified(site), false)
  })

  test('mails nothing if the address is already in use, or if the sign-up fails', async (t) => {
    const { site, ada } = await siteWithAda(t)
    assert.equal((await site.visitor().json('/users', registration('Ada'))).status, 409)
    assert.equal(
      (await site.visitor().json('/users', registration('Ada', { email: ada.email.toUpperCase() }))).status,
      409,
    )
    assert.equal(
      (await site.visitor().json('/users', registration('Bob', { password: 'short' }))).status,
      400,
    )
    assert.deepEqual(await receiveMails(site), [])
  })

  test('Q3 creates an account but sends no mail after twenty mails for the network', async (t) => {
    const site = await startSite(t, { THROTTLE: 'on' })
    for (let i = 0; i < 22; i += 1) await signUp(site, `Ada${i}`)
    assert.equal((await receiveMails(site)).length, 20)
  })
})

describe('GET /verify', () => {
  test('R1 changes nothing, prevents a Referer, and shows a button in a session of the account', async (t) => {
    const { site, ada, token, visitor } = await siteWithAda(t)
    const before = await dumpAll(site)
    for (const method of ['HEAD', 'GET', 'GET']) {
      const page = await visitor.send(method, `/verify?token=${token}`, { accept: 'text/html' })
      assert.deepEqual([page.status, page.headers['referrer-policy']], [200, 'no-referrer'])
      if (method === 'GET')
        assert.match(page.text, new RegExp(`<b>${ada.email}</b>[\\s\\S]*action="/verify"`))
    }
    assert.deepEqual(await dumpAll(site), before)
  })

  test('R1 leads a visitor to sign-in and back, and does not show the address', async (t) => {
    const { site, ada, token } = await siteWithAda(t)
    const visitor = site.visitor()
    const { status, text } = await visitor.page(`/verify?token=${token}`)
    assert.equal(status, 200)
    assert.doesNotMatch(text, /ada@|action="\/verify"/)
    const [, path = ''] = /href="(\/login\?next=[^"]+)"/.exec(text) ?? []
    assert.equal((await visitor.page(path)).status, 200)
    const next = new URLSearchParams(path.split('?')[1]).get('next') ?? ''
    const { headers } = await visitor.form('/login', { username: ada.email, password, next })
    assert.equal(headers.location, `/verify?token=${token}`)
    assert.match((await visitor.page(`${headers.location}`)).text, /action="\/verify"/)
  })

  test('R1 offers a sign-out in a session of another account', async (t) => {
    const { site, token } = await siteWithAda(t)
    const eve = await signIn(site, await signUp(site, 'Eve'))
    const { status, text } = await eve.page(`/verify?token=${token}`)
    assert.equal(status, 200)
    assert.match(text, /This link belongs to another account[\s\S]*action="\/logout"[\s\S]*Sign out now/)
    assert.doesNotMatch(text, /ada@|action="\/verify"/)
  })

  test('says that the address is confirmed if the link has been used', async (t) => {
    const { site, ada, token, visitor } = await siteWithAda(t)
    assert.doesNotMatch((await visitor.page('/verify?token=x')).text, /<\/b> is confirmed/)
    await visitor.form('/verify', { token })
    const again = await visitor.form('/verify', { token })
    for (const { status, text } of [again, await visitor.page(`/verify?token=${token}`)]) {
      assert.equal(status, 410)
      assert.ok(text.includes(`Your address <b>${ada.email}</b> is confirmed.`), text)
    }
    assert.doesNotMatch((await site.visitor().page(`/verify?token=${token}`)).text, /ada@|<\/b> is confirmed/)
  })

  test('is the same 410 for unknown, expired and malformed links, and for a reset link', async (t) => {
    const { site, ada, token, visitor } = await siteWithAda(t)
    const reset = await takeResetToken(site, ada)
    const texts = new Set<string>()
    for (const wrong of ['', 'x', 'x'.repeat(43), reset, `${token}&token=${token}`]) {
      const { status, text } = await visitor.page(`/verify?token=${wrong}`)
      assert.equal(status, 410)
      texts.add(text)
    }
    await sql(site, 'update one_time_tokens set expires_at = 1')
    const expired = await visitor.page(`/verify?token=${token}`)
    assert.equal(expired.status, 410)
    assert.equal(texts.add(expired.text).size, 1)
    const { status, record } = await visitor.json('/verify', { token })
    assert.deepEqual([status, record.code], [410, 'link_expired'])
  })
})

describe('POST /verify', () => {
  test('R1 verifies the address once, in a session of the account', async (t) => {
    const { site, token, visitor } = await siteWithAda(t)
    assert.match((await visitor.page('/account')).text, /Your e-mail address is not confirmed/)
    const answer = await visitor.form('/verify', { token })
    assert.deepEqual([answer.status, answer.headers.location], [303, '/account'])
    assert.equal(await isVerified(site), true)
    const { text } = await visitor.page('/account')
    assert.match(text, /Your e-mail address is confirmed\./)
    assert.doesNotMatch(text, /not confirmed/)
    assert.equal((await visitor.form('/verify', { token })).status, 410)
    assert.match((await visitor.page('/account/activity')).text, /Address verified/)
    const { record } = await visitor.get('/me')
    assert.deepEqual(Object.keys(record), ['id', 'name', 'email'])
  })

  test('R1 accepts Basic, and responds to JSON with 204', async (t) => {
    const { site, ada, token } = await siteWithAda(t)
    assert.equal((await site.visitor().json('/verify', { token }, basic(ada))).status, 204)
    assert.equal(await isVerified(site), true)
  })

  test('R1 responds to a form without a session of the account with 401 and the next step, and does not show the address', async (t) => {
    const { site, token } = await siteWithAda(t)
    const visitor = await site.visitor().form('/verify', { token })
    assert.equal(visitor.status, 401)
    assert.ok(visitor.text.includes(`href="/login?next=%2Fverify%3Ftoken%3D${token}"`), visitor.text)
    assert.equal(visitor.headers['www-authenticate'], undefined)
    const eve = await (await signIn(site, await signUp(site, 'Eve'))).form('/verify', { token })
    assert.equal(eve.status, 401)
    assert.match(eve.text, /This link belongs to another account/)
    for (const { headers, text } of [visitor, eve]) {
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.doesNotMatch(text, /ada@/)
    }
    assert.equal((await site.visitor().form('/verify', { token: 'x' })).status, 410)
  })

  test('R1 responds with 401 to JSON without a session or the password of the account', async (t) => {
    const { site, ada, token } = await siteWithAda(t)
    const eve = await signUp(site, 'Eve')
    const session = await signIn(site, eve)
    const answers = [
      await site.visitor().json('/verify', { token }),
      await session.json('/verify', { token }),
      await site.visitor().json('/verify', { token }, basic(eve)),
      await site.visitor().json('/verify', { token }, basic(ada, 'wrong')),
      await site.visitor().json('/verify', { token }, bearer(await takeToken(site, ada))),
    ]
    for (const { status } of answers) assert.equal(status, 401)
    assert.equal(await isVerified(site), false)
    assert.equal((await session.get('/me')).status, 200)
  })
})

describe('an account without a verified address', () => {
  test('R2 goes to the owner of the address, even if another person signed up with it', async (t) => {
    const { site, ada, token, visitor: eve } = await siteWithAda(t)
    const bearerToken = await takeToken(site, ada)
    await eve.form('/account/verification', {})
    const again = await receiveMail(site)
    const owner = site.visitor()
    for (const each of [token, again.token])
      assert.equal((await owner.json('/verify', { token: each })).status, 401)
    assert.equal(await isVerified(site), false)

    await owner.form('/forgot', { email: ada.email })
    const reset = await receiveMail(site)
    assert.equal((await owner.form('/reset', { token: reset.token, ...passwords })).status, 303)
    assert.equal(await isVerified(site), true)
    assert.equal((await eve.get('/me')).status, 401)
    assert.equal((await site.visitor().get('/me', bearer(bearerToken))).status, 401)
    assert.equal((await site.visitor().post('/login', basic(ada))).status, 401)
    assert.equal((await owner.form('/login', { username: ada.email, password: newPassword })).status, 303)
    assert.equal((await owner.form('/verify', { token: again.token })).status, 410)
  })

  test('R2 gets only mails with a link, without the name of the user', async (t) => {
    const { site, ada, visitor } = await siteWithAda(t, { THROTTLE: 'on' })
    await visitor.form('/account/verification', {})
    await signIn(site, ada)
    await visitor.form('/forgot', { email: ada.email })
    await visitor.form('/account/password', { currentPassword: password, ...passwords })
    const mails = await receiveMails(site)
    assert.deepEqual(mails.map(({ subject }) => subject).sort(), [
      'Choose a new password at koa-authenticators',
      'Confirm your e-mail address at koa-authenticators',
    ])
    for (const { text, html } of mails) assert.doesNotMatch(text + html, /\bAda\b/)
  })
})

describe('POST /account/verification', () => {
  test('sends a new link, which replaces the old one', async (t) => {
    const { site, ada, token, visitor } = await siteWithAda(t)
    const answer = await visitor.form('/account/verification', {})
    assert.deepEqual([answer.status, answer.headers.location], [303, '/account'])
    assert.ok((await visitor.page('/account')).text.includes(`We have sent a link to ${ada.email}.`))
    const mail = await receiveMail(site)
    assert.equal((await visitor.page(`/verify?token=${token}`)).status, 410)
    assert.equal((await visitor.form('/verify', { token: mail.token })).status, 303)
    assert.match((await visitor.page('/account/activity')).text, /Verification link requested/)
  })

  test('responds to JSON with 202, and sends nothing for a verified address', async (t) => {
    const { site, ada, token, visitor } = await siteWithAda(t)
    const first = await site.visitor().post('/account/verification', basic(ada))
    assert.equal(first.status, 202)
    await receiveMail(site)
    await sql(site, 'update users set email_verified_at = 1')
    const second = await visitor.json('/account/verification', {})
    const detail = `Your e-mail address ${ada.email} is already confirmed.`
    assert.deepEqual([second.status, second.record], [202, { detail }])
    assert.match(String(first.record.detail), /^We have sent a link/)
    assert.deepEqual(await receiveMails(site), [])
    assert.notEqual(token, '')
    assert.equal((await site.visitor().post('/account/verification')).status, 401)
  })

  test('sends nothing if the account was verified or closed after the request', async (t) => {
    const { site, ada, visitor } = await siteWithAda(t)
    await visitor.form('/account/verification', {})
    await sql(site, 'update users set email_verified_at = 1')
    assert.deepEqual(await receiveMails(site), [])
    await sql(site, 'update users set email_verified_at = null')
    await visitor.form('/account/verification', {})
    await site.visitor().json('/account/close', { password }, basic(ada))
    assert.deepEqual(await receiveMails(site), [])
  })

  test('Q3 is 429 for pages and JSON after five mails in an hour', async (t) => {
    const { site, visitor } = await siteWithAda(t, { THROTTLE: 'on' })
    for (let i = 0; i < 4; i += 1) assert.equal((await visitor.form('/account/verification', {})).status, 303)
    await receiveMails(site)
    const page = await visitor.form('/account/verification', {})
    assert.equal(page.status, 429)
    assert.match(page.text, /<title>Error: Profile[\s\S]*Too many attempts for this account\. Try again in/)
    assert.equal((await visitor.json('/account/verification', {})).status, 429)
    assert.deepEqual(await receiveMails(site), [])
  })
})
