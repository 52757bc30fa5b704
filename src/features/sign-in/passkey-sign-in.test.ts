import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import {
  addPasskey,
  loadOptions,
  newAuthenticator,
  optionsOf,
  passkeySite,
  passkeysOf,
  signInWithPasskey,
} from '../../testing/passkey-visitor.ts'
import { signIn, signUp, takeResetToken } from '../../testing/people.ts'
import { recordSiteStatements } from '../../testing/record-site-statements.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { startSite } from '../../testing/site.ts'
import type { Overrides, SoftwareAuthenticator } from '../../testing/software-authenticator.ts'
import { Throttle } from '../../throttle/throttle.ts'

describe('GET /login', () => {
  test('U7 E13 sends passkey options and a cookie, and runs no query', async (t) => {
    const { site } = await passkeySite(t)
    const before = await dumpAll(site)
    const statements = await recordSiteStatements(t, site)
    const visitor = site.visitor()
    const first = await visitor.page('/login')
    const cookie = visitor.cookies.get('passkey')
    assert.deepEqual([first.status, first.cookies.length, statements()], [200, 1, []])
    assert.match(first.cookies[0] ?? '', /^passkey=[\w-]{43}; Max-Age=300; /)
    const { challenge, rpId, allowCredentials, userVerification } = optionsOf(first)
    assert.deepEqual([rpId, allowCredentials, userVerification], ['localhost', [], 'required'])
    assert.match(first.text, /autocomplete="username webauthn"/)

    assert.notEqual((await loadOptions(visitor, '/login')).challenge, challenge)
    assert.equal(visitor.cookies.get('passkey'), cookie, 'the pages of other tabs still work')
    assert.deepEqual(await dumpAll(site), before)
  })

  test('U13 offers no passkeys at an address that does not support them, or without SECRETS_KEY', async (t) => {
    const withoutSecretsKey = {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://example.com',
      JWT_SECRET: randomBytes(32).toString('base64'),
      BCRYPT_COST: '10',
      THROTTLE: 'on',
    }
    const environments: Record<string, string>[] = [
      {},
      { PUBLIC_URL: 'http://example.com' },
      { PUBLIC_URL: 'https://192.0.2.1' },
      withoutSecretsKey,
    ]
    for (const environment of environments) {
      const site = await startSite(t, environment)
      const answer = await site.visitor().page('/login')
      assert.deepEqual([optionsOf(answer), answer.cookies], [undefined, []])
      assert.doesNotMatch(answer.text, /webauthn|data-passkey/)
      assert.equal((await site.visitor().form('/login/passkey', { credential: '{}' })).status, 404)
    }
  })

  test('uses the host of the request if PUBLIC_URL is not set', async (t) => {
    const site = await startSite(t)
    const { port } = new URL(site.url)
    const options = optionsOf(await site.visitor().page('/login', { host: `localhost:${port}` }))
    assert.equal(options.rpId, 'localhost')
  })
})

describe('POST /login/passkey', () => {
  test('U10 signs in without an address, a password or a code, and redirects to the requested page', async (t) => {
    const { site, ada, visitor } = await passkeySite(t)
    const authenticator = await addPasskey(visitor)
    await turnOnApp(site, ada)
    const browser = site.visitor()
    const fields = { next: '/account/sessions?x=1', remember: 'on' }
    const { status, headers, cookies } = await signInWithPasskey(browser, authenticator, { fields })
    assert.deepEqual([status, headers.location], [303, '/account/sessions?x=1'])
    assert.ok(cookies.some((each) => /^session=[\w-]{43}; Max-Age=2592000;/.test(each)))
    assert.equal((await browser.get('/me')).record.id, ada.id)
    assert.equal(
      (await browser.json('/account/security/recovery-codes', {})).status,
      200,
      'the session is fresh',
    )
    assert.ok((await passkeysOf(browser))[0]?.lastUsedAt)
    const [event] = await sql(site, `select detail from events where event = 'signed in' order by id desc`)
    assert.equal(event?.detail, 'Passkey: Laptop')
  })

  test('E3 starts a new session, and ends the previous session of the browser', async (t) => {
    const { site, visitor } = await passkeySite(t)
    const authenticator = await addPasskey(visitor)
    const browser = site.visitor()
    const options = await loadOptions(browser, '/login')
    const earlier = (await signIn(site, await signUp(site, 'Bob'), { visitor: browser })).session
    await browser.form('/login/passkey', { credential: authenticator.get(options) })
    assert.notEqual(browser.session, earlier)
    assert.equal((await browser.get('/me')).record.name, 'Ada')
    assert.equal((await site.visitor(earlier).get('/me')).status, 401)
  })

  test('H1 does not redirect to another site', async (t) => {
    const { site, visitor } = await passkeySite(t)
    const authenticator = await addPasskey(visitor)
    const fields = { next: '//evil.example' }
    const { headers } = await signInWithPasskey(site.visitor(), authenticator, { fields })
    assert.equal(headers.location, '/account')
  })

  test('U2 U3 U7 E9 responds with the same 401 and form to an unknown passkey, to five invalid answers, and for a disabled account', async (t) => {
    const { site, visitor } = await passkeySite(t)
    const authenticator = await addPasskey(visitor)
    const attempt = async (from: SoftwareAuthenticator, overrides: Overrides = {}) => {
      const browser = site.visitor()
      const fields = { next: '/account/sessions' }
      const answer = await signInWithPasskey(browser, from, { overrides, fields })
      assert.equal(answer.status, 401)
      assert.ok(optionsOf(answer), 'the form has new options')
      assert.equal(browser.session, undefined)
      return answer.text.replace(/data-options="[^"]*"/, '')
    }
    const page = await attempt(newAuthenticator())
    assert.match(page, /The passkey was not accepted/)
    assert.match(page, /name="next" value="\/account\/sessions"/)
    for (const overrides of [
      { flags: 1 },
      { origin: 'https://evil.example' },
      { userHandle: undefined },
      { challenge: Buffer.alloc(54).toString('base64url') },
      { signature: Buffer.alloc(70) },
    ])
      assert.equal(await attempt(authenticator, overrides), page, JSON.stringify(overrides))
    await sql(site, 'update users set disabled_at = created_at')
    assert.equal(await attempt(authenticator), page, 'a disabled account')
    await sql(site, 'update users set disabled_at = null')
    assert.equal((await passkeysOf(visitor))[0]?.lastUsedAt, null)
  })

  test('U9 rejects malformed fields, and a request that is not a form', async (t) => {
    const { site } = await passkeySite(t)
    for (const credential of ['', '{}', '['.repeat(4000)]) {
      assert.equal((await site.visitor().form('/login/passkey', { credential })).status, 401, credential)
    }
    assert.equal((await site.visitor().json('/login/passkey', { credential: '{}' })).status, 415)
    assert.equal((await site.visitor().post('/login/passkey')).status, 415)
    assert.equal((await site.visitor().page('/login/passkey')).headers.location, '/login')
  })

  test('U1 requires the cookie of the browser that loaded the options', async (t) => {
    const { site, visitor } = await passkeySite(t)
    const authenticator = await addPasskey(visitor)
    const victim = site.visitor()
    const credential = authenticator.get(await loadOptions(victim, '/login'))
    const thief = site.visitor()
    assert.equal((await thief.form('/login/passkey', { credential })).status, 401)
    await thief.page('/login')
    assert.equal((await thief.form('/login/passkey', { credential })).status, 401)
    assert.equal((await victim.form('/login/passkey', { credential })).status, 303)
  })

  test('U1 accepts an answer only once in ten concurrent requests, and one answer from each of two tabs', async (t) => {
    const { site, visitor } = await passkeySite(t)
    const authenticator = await addPasskey(visitor)
    const browser = site.visitor()
    const [one, other] = [await loadOptions(browser, '/login'), await loadOptions(browser, '/login')]
    const cookie = `passkey=${browser.cookies.get('passkey')}`
    const credential = authenticator.get(one)
    const attempt = () => site.visitor().form('/login/passkey', { credential }, { cookie })
    const statuses = (await Promise.all(Array.from({ length: 10 }, attempt))).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [303, ...Array(9).fill(401)])
    assert.equal((await browser.form('/login/passkey', { credential: authenticator.get(other) })).status, 303)
  })

  test('U8 rejects a passkey that was deleted with its account', async (t) => {
    const { site, visitor } = await passkeySite(t)
    const authenticator = await addPasskey(visitor)
    assert.equal((await visitor.form('/account/close', { confirm: 'on' })).status, 303)
    assert.equal((await signInWithPasskey(site.visitor(), authenticator)).status, 401)
    assert.deepEqual(await sql(site, 'select id from passkeys'), [])
  })

  test('U12 still works after a password reset of a verified address. The reset page lists the passkeys', async (t) => {
    const { site, ada, visitor } = await passkeySite(t)
    await sql(site, 'update users set email_verified_at = 1')
    const authenticator = await addPasskey(visitor, 'Old <phone>')
    const token = await takeResetToken(site, ada)
    assert.match((await site.visitor().page(`/reset?token=${token}`)).text, /<bdi>Old &lt;phone&gt;<\/bdi>/)
    const next = 'eight wise canaries 1816'
    await site.visitor().form('/reset', { token, password: next, confirmPassword: next })
    assert.equal((await signInWithPasskey(site.visitor(), authenticator)).status, 303)
  })

  test('U1 M6 works on another server with the same SECRETS_KEY', async (t) => {
    const SECRETS_KEY = `a:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`
    const { site, visitor } = await passkeySite(t, { SECRETS_KEY })
    const authenticator = await addPasskey(visitor)
    const other = await startSite(t, {
      SECRETS_KEY,
      PUBLIC_URL: 'http://localhost:3000',
      DATABASE_URL: site.config.databaseUrl,
    })
    const browser = site.visitor()
    const credential = authenticator.get(await loadOptions(browser, '/login'))
    const cookie = `passkey=${browser.cookies.get('passkey')}`
    assert.equal((await other.visitor().form('/login/passkey', { credential }, { cookie })).status, 303)
    assert.equal((await browser.form('/login/passkey', { credential })).status, 401, 'a challenge works once')
  })

  test('U5 rejects a counter that does not increase, and sends a notice', async (t) => {
    const { site, visitor } = await passkeySite(t)
    await sql(site, 'update users set email_verified_at = created_at')
    const authenticator = await addPasskey(visitor)
    authenticator.counter = 7
    assert.equal((await signInWithPasskey(site.visitor(), authenticator)).status, 303)
    assert.equal((await signInWithPasskey(site.visitor(), authenticator)).status, 401)
    const event = `select detail from events where event = 'passkey counter went back'`
    assert.deepEqual(await sql(site, event), [{ detail: 'Laptop' }])
    const mails = (await sql(site, 'select * from mails')).map((mail) => JSON.stringify(mail))
    assert.equal(mails.filter((mail) => mail.includes('A passkey of your account was rejected')).length, 1)
  })

  test('is limited to a total of 100 sign-ins and new passkeys of an account in 15 minutes', async (t) => {
    const { site, ada, visitor } = await passkeySite(t, { THROTTLE: 'on' })
    const authenticator = await addPasskey(visitor)
    await site.orm.em.fork().transactional(async (em) => {
      const throttle = new Throttle(site.orm)
      for (let i = 0; i < 98; i += 1)
        await throttle.countIn(em, { action: 'passkey-of-account', account: ada.id })
    })
    assert.equal((await signInWithPasskey(site.visitor(), authenticator)).status, 303)
    const { status, text } = await signInWithPasskey(site.visitor(), authenticator)
    assert.equal(status, 429, 'adding the passkey counts too')
    assert.match(text, /Too many attempts/)
  })

  test('is limited to 50 rejected answers from a network in 15 minutes', async (t) => {
    const { site, visitor } = await passkeySite(t, { THROTTLE: 'on', TRUST_PROXY: '1' })
    const authenticator = await addPasskey(visitor)
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const browser = site.visitor()
    for (let i = 0; i < 50; i += 1)
      assert.equal(
        (await browser.form('/login/passkey', { credential: '{}' }, from('192.0.2.1'))).status,
        401,
      )
    const credential = authenticator.get(await loadOptions(browser, '/login'))
    const { status, headers, text } = await browser.form('/login/passkey', { credential }, from('192.0.2.1'))
    assert.equal(status, 429)
    assert.match(headers['retry-after'] ?? '', /^\d+$/)
    assert.match(text, /Too many attempts/)
    assert.equal((await browser.form('/login/passkey', { credential }, from('192.0.2.2'))).status, 303)
  })
})
