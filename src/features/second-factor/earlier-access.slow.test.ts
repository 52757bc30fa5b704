import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { count, sql } from '../../testing/database.ts'
import { lockDatabase } from '../../testing/lock-database.ts'
import {
  addPasskey,
  loadOptions,
  newAuthenticator,
  passkeySite,
  passkeysOf,
} from '../../testing/passkey-visitor.ts'
import { password, signIn, signUp } from '../../testing/people.ts'
import { receiveMails } from '../../testing/receive-mails.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { type Site, startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'
import { isOnPostgres } from '../../testing/test-database.ts'

const setUpPage = '/account/security/totp'
// On PostgreSQL, the request waits at this statement until the other transaction ends.
const accountLock = / from `users` .* for update/

describe('a thief with an earlier session', () => {
  test('T4 shares the rate limit of unknown devices after the owner sets up an app', async (t) => {
    const { site, person: ada, ada: thief } = await siteWithAda(t, { THROTTLE: 'on', TRUST_PROXY: '1' })
    const { visitor: owner } = await turnOnApp(site, ada)
    const guess = (visitor: typeof thief, network: number) =>
      visitor.json(
        '/login',
        { username: ada.email, password, code: '000000' },
        { 'x-forwarded-for': `192.0.2.${network}` },
      )
    for (let i = 0; i < 20; i += 1) assert.equal((await guess(site.visitor(), i % 5)).status, 401)
    assert.equal((await guess(thief, 100)).status, 429)
    // The browser that set up the app is still a known device.
    assert.equal((await guess(owner, 100)).status, 401)
  })

  test('T9 cannot choose the key of the app that the owner sets up', async (t) => {
    const { site, person: ada, ada: thief } = await siteWithAda(t)
    const { record } = await thief.json(setUpPage, {})
    const owner = await signIn(site, ada)
    const { text } = await owner.page(setUpPage)
    assert.ok(!text.includes(String(record.secret)))
    assert.match(text, /I have an app/)
    assert.equal((await owner.get(setUpPage)).status, 404)

    // The thief starts another set-up while the page of the owner is open.
    await owner.form(setUpPage, {})
    const again = await thief.json(setUpPage, {})
    const wrong = await owner.form(`${setUpPage}/confirm`, { code: '000000' })
    assert.ok(!wrong.text.includes(String(again.record.secret)))
    assert.deepEqual([wrong.status, wrong.headers.location], [303, setUpPage])
  })
})

describe('a production site without SECRETS_KEY', () => {
  test('responds to the set-up of an app with 404', async (t) => {
    const site = await startSite(t, {
      NODE_ENV: 'production',
      PUBLIC_URL: 'http://localhost:3000',
      JWT_SECRET: randomBytes(32).toString('base64'),
      BCRYPT_COST: '10',
      THROTTLE: 'on',
    })
    const visitor = await signIn(site, await signUp(site))
    for (const path of [setUpPage, `${setUpPage}/confirm`]) {
      assert.equal((await visitor.json(path, { code: '000000' })).status, 404)
      assert.equal((await visitor.form(path, { code: '000000' })).status, 404)
    }
    for (const path of [setUpPage, '/account/security', '/confirm'])
      assert.ok((await visitor.page(path)).status < 400, path)
  })
})

describe('a request whose session ends before the request locks the account row', () => {
  const endSessions = 'delete from sessions'
  // At this statement, the session has been read.
  const afterSession = isOnPostgres ? accountLock : / join `users` /

  test('E6 T8 starts no session by a confirmation', async (t) => {
    const { site, ada: visitor } = await siteWithAda(t)
    const other = await lockDatabase(t, site)
    const confirming = visitor.json('/confirm', { password })
    await other.waitForStatement(afterSession)
    await other.release(endSessions)
    assert.equal((await confirming).status, 409)
    assert.equal((await sql(site, 'select 1 from sessions')).length, 0)
    assert.equal((await visitor.get('/account/security')).status, 401)
  })

  test('E6 U11 does not add or remove a passkey', async (t) => {
    const { site, visitor, ada } = await passkeySite(t)
    await addPasskey(visitor)
    const [{ id } = { id: '' }] = (await visitor.get('/account/security')).record.passkeys as { id: string }[]
    const credential = newAuthenticator().create(await loadOptions(visitor, '/account/security'))
    for (const [path, body] of [
      ['/account/passkeys', { credential }],
      [`/account/passkeys/${id}/remove`, {}],
    ] as const) {
      const other = await lockDatabase(t, site)
      const changing = visitor.json(path, body)
      await other.waitForStatement(afterSession)
      await other.release(endSessions)
      assert.equal((await changing).status, 409, path)
      assert.equal((await sql(site, 'select 1 from passkeys')).length, 1, path)
      await visitor.form('/login', { username: ada.email, password })
    }
  })

  test('E6 does not replace the recovery codes or remove the app', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    const { visitor, nextCode } = await turnOnApp(site, ada)
    for (const path of ['/account/security/recovery-codes', '/account/security/totp/remove']) {
      const before = await sql(site, 'select digest from recovery_codes order by 1')
      const other = await lockDatabase(t, site)
      const changing = visitor.json(path, {})
      await other.waitForStatement(afterSession)
      await other.release(endSessions)
      assert.equal((await changing).status, 409, path)
      assert.deepEqual(await sql(site, 'select digest from recovery_codes order by 1'), before, path)
      await visitor.json('/login', { username: ada.email, password, code: nextCode() })
    }
  })
})

describe('a request whose session ends before the request changes the account', () => {
  test('E6 changes nothing on the routes of the account', async (t) => {
    const { site, visitor, ada } = await passkeySite(t)
    await addPasskey(visitor)
    const [{ id } = { id: '' }] = await passkeysOf(visitor)
    const { record } = await visitor.json('/account/tokens', { name: 'CI' })
    await visitor.json('/account/email', { email: 'new@example.com' })
    const mails = await receiveMails(site)
    const linkOf = (to: string) => mails.find((mail) => mail.to === to)?.token
    const other = await signIn(site, ada)
    const [{ id: session } = { id: '' }] = (await sql(
      site,
      'select id from sessions order by created_at desc',
    )) as { id: string }[]
    const next = 'eight wise canaries 1816'
    site.secrets.add(next)
    for (const [path, body] of [
      ['/account/name', { name: 'Mallory' }],
      [`/account/passkeys/${id}/name`, { name: 'Mallory' }],
      [`/account/sessions/${session}/end`, {}],
      ['/account/sessions/end-others', {}],
      [`/account/tokens/${record.id}/revoke`, {}],
      ['/account/email', { email: 'mallory@example.com' }],
      ['/account/email/cancel', {}],
      ['/verify', { token: linkOf(ada.email) }],
      ['/verify', { token: linkOf('new@example.com') }],
      ['/account/password', { currentPassword: password, password: next, confirmPassword: next }],
      ['/account/close', { password }],
    ] as const) {
      const thief = await signIn(site, ada)
      const identifier = hash('sha256', thief.session ?? '', 'base64url')
      const before = await accountRows(site)
      const lock = await lockDatabase(t, site)
      const running = thief.json(path, body)
      await lock.waitForStatement(isOnPostgres ? accountLock : / join `users` /)
      await lock.release('delete from sessions where digest = ?', identifier)
      assert.equal((await running).status, 409, path)
      assert.deepEqual(await accountRows(site), before, path)
    }
    assert.equal((await other.get('/me')).record.name, 'Ada')
  })
})

/** The rows of the account, without its sessions, which tests end by hand. */
async function accountRows(site: Site) {
  const tables = ['users', 'user_tokens', 'passkeys', 'one_time_tokens', 'mails']
  return Promise.all(tables.map((table) => sql(site, `select * from ${table} order by 1`)))
}

describe('a sign-in with the password alone', () => {
  test('T6 starts no session if the account gets a second factor in the meantime', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    const other = await lockDatabase(t, site)
    const browser = site.visitor()
    const running = browser.form('/login', { username: ada.email, password })
    // At this statement, the password has been verified.
    await other.waitForStatement(
      isOnPostgres ? accountLock : /^select count.* from `users`.*credentials_version/,
    )
    await other.release('update users set second_factor_at = ?, credentials_version = 1', Date.now())
    assert.equal((await running).status, 409)
    assert.equal((await browser.get('/me')).status, 401)
    assert.equal(await count(site, 'sessions'), 0)
  })
})
