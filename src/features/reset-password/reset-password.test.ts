import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { countHashes } from '../../testing/count-hashes.ts'
import { count, dump, hide, sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import { addPasskey, passkeySite, signInWithPasskey } from '../../testing/passkey-visitor.ts'
import {
  basic,
  bearer,
  password,
  signIn,
  signUp,
  takeJWT,
  takeResetToken,
  takeToken,
} from '../../testing/people.ts'
import { receiveMail, receiveMails } from '../../testing/receive-mails.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { startSite } from '../../testing/site.ts'
import { User } from '../../users/user.ts'
import { createResetLink } from './reset-link.ts'

const newPassword = 'eight wise canaries 1816'
const passwords = { password: newPassword, confirmPassword: newPassword }
const notice = 'Your password has been changed. Sign in with the new password.'

describe('GET /reset', () => {
  test('C5 L7 shows a form that password managers support, for the account of the link', async (t) => {
    const { site, person, token } = await siteWithAda(t)
    const { status, text, headers, cookies } = await site.visitor().page(`/reset?token=${token}`)
    assert.deepEqual([status, cookies], [200, []])
    assert.deepEqual([headers['referrer-policy'], headers['cache-control']], ['no-referrer', 'no-store'])
    assert.match(text, /<title>Choose a new password/)
    assert.match(text, /<form method="post" action="\/reset"/)
    assert.ok(text.includes(`<input type="hidden" name="token" value="${token}">`))
    const inputs = [...text.matchAll(/<input[^>]*>/g)].map(([input]) => input).slice(1)
    const attributes = inputs.map((input) =>
      ['name', 'type', 'autocomplete'].map((name) => new RegExp(` ${name}="([^"]*)"`).exec(input)?.[1]),
    )
    assert.deepEqual(attributes, [
      ['username', 'text', 'username'],
      ['password', 'password', 'new-password'],
      ['confirmPassword', 'password', 'new-password'],
    ])
    assert.match(inputs[0] ?? '', new RegExp(` value="${person.email}".* readonly `))
    for (const input of inputs.slice(1)) assert.doesNotMatch(input, /value=|maxlength|onpaste|readonly/)
  })

  test('C5 G4 changes nothing and keeps the link, however often a program opens it', async (t) => {
    const { site, person, token } = await siteWithAda(t)
    const before = await dumpAll(site)
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'GET'])
      for (const headers of [{}, { accept: 'text/html' }, { 'sec-fetch-site': 'cross-site' }, basic(person)])
        assert.equal((await site.visitor().send(method, `/reset?token=${token}`, headers)).status, 200)
    assert.deepEqual(await dumpAll(site), before)
    assert.equal((await site.visitor().form('/reset', { token, ...passwords })).status, 303)
  })

  test('shows the form for the account of the link, even if another user is signed in', async (t) => {
    const { site, person, token } = await siteWithAda(t)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const { text } = await bob.page(`/reset?token=${token}`)
    assert.match(text, new RegExp(`name="username" value="${person.email}"`))
  })
})

describe('POST /reset', () => {
  test('C5 sets the password, redirects to the sign-in page with a notice, and starts no session', async (t) => {
    const { site, person, token } = await siteWithAda(t)
    const visitor = site.visitor()
    const { status, headers } = await visitor.form('/reset', { token, ...passwords })
    assert.deepEqual([status, headers.location], [303, '/login'])
    assert.equal(visitor.session, undefined)
    assert.equal((await visitor.get('/me')).status, 401)
    assert.equal(await count(site, 'sessions'), 0)
    const login = (secret: string) => site.visitor().post('/login?as=user', basic(person, secret))
    assert.deepEqual([(await login(password)).status, (await login(newPassword)).status], [401, 200])

    assert.ok(!(await visitor.send('HEAD', '/login', { accept: 'text/html' })).cookies.length)
    assert.ok((await visitor.page('/login')).text.includes(` ${notice}</p>`))
    assert.ok(!(await visitor.page('/login')).text.includes(notice))
  })

  test('responds to JSON with 204, without a cookie', async (t) => {
    const { site, person, token } = await siteWithAda(t)
    const { status, text, cookies } = await site.visitor().json('/reset', { token, ...passwords })
    assert.deepEqual([status, text, cookies], [204, '', []])
    assert.equal((await site.visitor().post('/login?as=user', basic(person, newPassword))).status, 200)
  })

  test('C5 E10 ends sessions, tokens, devices and links of this account only', async (t) => {
    const { site, person, token } = await siteWithAda(t, { THROTTLE: 'on' })
    const [ada, bobPerson] = [await signIn(site, person), await signUp(site, 'Bob')]
    const bob = await signIn(site, bobPerson)
    const [opaque, jwt] = [await takeToken(site, person), await takeJWT(site, person)]
    const ofBob = await takeResetToken(site, bobPerson)
    assert.equal((await ada.form('/reset', { token, ...passwords })).status, 303)

    assert.equal(ada.session, undefined, 'the cookie of the ended session is cleared')
    assert.equal((await ada.get('/me')).status, 401)
    for (const each of [opaque, jwt])
      assert.equal((await site.visitor().get('/me', bearer(each))).status, 401)
    assert.equal((await bob.get('/me')).status, 200)
    for (const table of ['sessions', 'devices', 'one_time_tokens'])
      assert.deepEqual(
        await sql(site, `select distinct user_id from ${table}`),
        [{ user_id: bobPerson.id }],
        table,
      )
    assert.equal((await site.visitor().page(`/reset?token=${ofBob}`)).status, 200)
  })

  test('P10 R2 removes everything that was set up before the first proof of the address', async (t) => {
    const { site, ada, visitor } = await passkeySite(t)
    const authenticator = await addPasskey(visitor)
    const token = await takeToken(site, ada)
    const { visitor: stranger, recoveryCodes, nextCode } = await turnOnApp(site, ada)
    assert.equal((await site.visitor().get('/me', bearer(token))).status, 200)
    await stranger.json('/account/email', { email: 'stranger@example.com' })
    const pending = site.visitor()
    await pending.form('/login', { username: ada.email, password })
    const mails = (await receiveMails(site)).filter(({ to }) => to === ada.email)
    await site.visitor().json('/forgot', { email: ada.email })
    const link = await receiveMail(site)
    assert.match(
      (await site.visitor().page(`/reset?token=${link.token}`)).text,
      /also removes the authenticator app, the passkeys and the connected accounts/,
    )
    assert.equal((await site.visitor().json('/reset', { token: link.token, ...passwords })).status, 204)

    assert.equal((await signInWithPasskey(site.visitor(), authenticator)).status, 401)
    assert.equal((await stranger.get('/me')).status, 401)
    assert.equal((await site.visitor().get('/me', bearer(token))).status, 401)
    for (const code of [nextCode(), recoveryCodes[0] ?? ''])
      assert.equal((await pending.form('/login/code', { code })).headers.location, '/login?expired')
    const owner = site.visitor()
    assert.equal(
      (await owner.json('/login', { username: ada.email, password: newPassword })).status,
      200,
      'no code is asked',
    )
    for (const mail of mails) assert.equal((await owner.json('/verify', { token: mail.token })).status, 410)
    const { record } = await owner.get('/account/security')
    assert.deepEqual(record, {
      totp: false,
      recoveryCodesLeft: 0,
      passkeys: [],
      identities: [],
      hasPassword: true,
    })
    const tables = ['passkeys', 'totp_factors', 'recovery_codes', 'user_tokens', 'one_time_tokens']
    for (const table of tables) assert.deepEqual(await sql(site, `select * from ${table}`), [], table)
    assert.doesNotMatch((await owner.page('/account')).text, /stranger@example\.com/)
  })

  test('P10 keeps passkeys and the app if the address was proved before, or if the link was not mailed', async (t) => {
    const { site, ada, visitor } = await passkeySite(t)
    const authenticator = await addPasskey(visitor)
    await turnOnApp(site, ada)
    const em = site.orm.em.fork()
    const reset = async (email: string) => {
      const account = await em.findOneOrFail(User, ada.id, { refresh: true })
      const link = (await createResetLink(em, { account, email, origin: site.url })) ?? ''
      const token = new URL(link).searchParams.get('token') ?? ''
      site.secrets.add(token)
      assert.equal((await site.visitor().json('/reset', { token, ...passwords })).status, 204)
      const browser = site.visitor()
      assert.equal((await signInWithPasskey(browser, authenticator)).status, 303)
      assert.equal((await browser.get('/account/security')).record.totp, true)
    }
    await reset('')
    await sql(site, 'update users set email_verified_at = 1')
    await reset(ada.email)
  })

  test('keeps the session of another user who sends the form', async (t) => {
    const { site, token } = await siteWithAda(t)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    assert.equal((await bob.form('/reset', { token, ...passwords })).status, 303)
    assert.equal((await bob.get('/me')).record.name, 'Bob')
  })

  test('resets the rate limit of the account', async (t) => {
    const { site, person, token } = await siteWithAda(t, { THROTTLE: 'on' })
    const login = (secret: string) => site.visitor().post('/login?as=user', basic(person, secret))
    for (let i = 0; i < 10; i += 1) assert.equal((await login('a wrong guess')).status, 401)
    assert.equal((await login(password)).status, 429)
    assert.equal((await site.visitor().form('/reset', { token, ...passwords })).status, 303)
    assert.equal((await login(newPassword)).status, 200)
  })

  test('adds an event to the activity of the account and to the log', async (t) => {
    const { site, person, token } = await siteWithAda(t)
    await site.visitor().json('/reset', { token, ...passwords })
    const { text } = await site.visitor().get('/account/activity', basic(person, newPassword))
    assert.match(text, /"event":"password reset"/)
    assert.ok(
      site.log.some((line) => /"event":"password reset","outcome":"success","user":"[\w-]{36}"/.test(line)),
    )
  })

  test('B7 keeps the link if the password is rejected, and reports every invalid field', async (t) => {
    const { site, token } = await siteWithAda(t)
    const before = await dump(site)
    const hashes = countHashes(t)
    const wrong = { token, password: 'short', confirmPassword: 'other' }
    const json = await site.visitor().json('/reset', wrong)
    assert.deepEqual(
      [json.status, json.record.errors],
      [
        400,
        [
          { field: 'password', detail: 'The password must have at least 8 characters.' },
          { field: 'confirmPassword', detail: 'The passwords did not match.' },
        ],
      ],
    )
    const { status, text, headers } = await site.visitor().form('/reset', wrong)
    assert.deepEqual([status, headers['referrer-policy']], [400, 'no-referrer'])
    assert.match(text, /<title>Error: Choose a new password/)
    assert.match(text, /<a href="#password">The password must have at least 8 characters\.<\/a>/)
    assert.ok(text.includes(`name="token" value="${token}"`))
    assert.ok(!text.includes('"short"'))
    for (const each of ['password123', 'ada@example.com', 'Ada-1234'])
      assert.equal(
        (await site.visitor().json('/reset', { token, password: each, confirmPassword: each })).status,
        400,
        each,
      )
    assert.equal(hashes().evaluations, 0)
    assert.deepEqual(await dump(site), before)
    assert.equal((await site.visitor().form('/reset', { token, ...passwords })).status, 303)
  })

  test('C5 M5 sets the password of one of ten concurrent requests', async (t) => {
    const { site, person, token } = await siteWithAda(t)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => {
        const each = `${newPassword} ${i}`
        const fields = { token, password: each, confirmPassword: each }
        return i % 2 === 0 ? site.visitor().form('/reset', fields) : site.visitor().json('/reset', fields)
      }),
    )
    const statuses = answers.map(({ status }) => status)
    const winners = [...statuses.keys()].filter((i) => statuses[i] === 303 || statuses[i] === 204)
    assert.equal(winners.length, 1, `${statuses}`)
    for (const [i, status] of statuses.entries())
      if (i !== winners[0]) assert.ok([410, 503].includes(status), `${status}`)
    const login = await site.visitor().post('/login?as=user', basic(person, `${newPassword} ${winners[0]}`))
    assert.equal(login.status, 200)
  })

  test('D6 computes at most ten hashes for 20 concurrent requests with one link', async (t) => {
    const { site, person, token } = await siteWithAda(t, { THROTTLE: 'on', BCRYPT_COST: '8' })
    const hashes = countHashes(t)
    const send = () => site.visitor().json('/reset', { token, ...passwords })
    const statuses = (await Promise.all(Array.from({ length: 20 }, send))).map(({ status }) => status)
    const { evaluations } = hashes()
    assert.ok(evaluations <= 10, `${evaluations}`)
    assert.equal(statuses.filter((status) => status === 204).length, 1, `${statuses}`)
    for (const status of statuses) assert.ok([204, 410, 429].includes(status), `${status}`)
    assert.equal((await site.visitor().post('/login?as=user', basic(person, newPassword))).status, 200)
  })

  test('changes nothing and keeps the link if the API tokens cannot be deleted', async (t) => {
    const { site, person, token } = await siteWithAda(t)
    await takeToken(site, person)
    const before = await dump(site)
    const show = await hide(site, 'user_tokens')
    assert.equal((await site.visitor().json('/reset', { token, ...passwords })).status, 503)
    assert.equal((await site.visitor().form('/reset', { token, ...passwords })).status, 503)
    await show()
    assert.deepEqual(await dump(site), before)
    assert.equal((await site.visitor().form('/reset', { token, ...passwords })).status, 303)
  })
})

describe('a link that is not valid', () => {
  test('C5 gets the same 410 for every reason', async (t) => {
    const { site, person, token: replaced } = await siteWithAda(t)
    const bob = await signUp(site, 'Bob')
    const used = await takeResetToken(site, person)
    await site.visitor().json('/reset', { token: used, password, confirmPassword: password })
    const before = await takeResetToken(site, person)
    const change = { currentPassword: password, ...passwords }
    await site.visitor().json('/account/password', change, basic(person))
    const expired = await takeResetToken(site, person)
    await sql(site, 'update one_time_tokens set expires_at = ?', [Date.now()])
    const disabled = await takeResetToken(site, bob)
    await sql(site, 'update users set disabled_at = 1 where id = ?', [bob.id])
    const tokens = {
      replaced,
      used,
      before,
      expired,
      disabled,
      unknown: 'x'.repeat(43),
      short: 'x',
      empty: '',
    }

    const dumped = await dump(site)
    const hashes = countHashes(t)
    const seen = new Set<string>()
    for (const [name, token] of Object.entries(tokens)) {
      const opened = await site.visitor().page(`/reset?token=${token}`)
      const sent = await site.visitor().form('/reset', { token, ...passwords })
      for (const { status, text, cookies, headers } of [opened, sent]) {
        assert.deepEqual([status, cookies], [410, []], name)
        const { date: _, ...others } = headers
        seen.add(JSON.stringify([text, others]))
      }
      const json = await site.visitor().json('/reset', { token, password: 'short' })
      assert.deepEqual(
        [json.status, json.record.title, json.record.detail],
        [410, 'Link no longer works', 'This link no longer works. Ask for a new one.'],
        name,
      )
    }
    assert.equal(seen.size, 1)
    assert.match([...seen].join(), /<h1>This link no longer works<\/h1>/)
    assert.equal(hashes().evaluations, 0)
    assert.deepEqual(await dump(site), dumped)
  })
})

/** A site with a user, and a reset token of this user. */
async function siteWithAda(t: TestContext, environment: Record<string, string> = {}) {
  const site = await startSite(t, environment)
  site.secrets.add(newPassword)
  const person = await signUp(site)
  return { site, person, token: await takeResetToken(site, person) }
}
