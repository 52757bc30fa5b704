import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { encryptWithNewestKey } from '../../account/second-factor/encrypted-keys.ts'
import { hotp, stepAt } from '../../account/second-factor/totp.ts'
import { SessionStore } from '../../account/sessions/session-store.ts'
import { sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import { lockDatabase } from '../../testing/lock-database.ts'
import { basic, password, signIn, signUp } from '../../testing/people.ts'
import { receiveMails } from '../../testing/receive-mails.ts'
import { recordStatements } from '../../testing/record-statements.ts'
import { fromBase32, turnOnApp } from '../../testing/second-factor.ts'
import { startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'
import { User } from '../../users/user.ts'

const key = 'key:AbcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP0'

/** Two sites on one database, like two processes, and a user with an authenticator app. */
async function twoSites(t: TestContext) {
  const site = await startSite(t, { SECRETS_KEY: key })
  const other = await startSite(t, { SECRETS_KEY: key, DATABASE_URL: site.config.databaseUrl })
  const ada = await signUp(site)
  return { site, other, ada, app: await turnOnApp(site, ada) }
}

describe('the key of an authenticator app', () => {
  test('T12 is unavailable in a process that does not have the newest SECRETS_KEY yet', async (t) => {
    const { site, ada, app } = await twoSites(t)
    const newest = `newest:${randomBytes(32).toString('base64')}`
    const variables = { SECRETS_KEY: `${newest},${key}`, DATABASE_URL: site.config.databaseUrl }
    const other = await startSite(t, variables)
    await encryptWithNewestKey(other.orm.em.fork(), other.services.secretBox)
    const credentials = { username: ada.email, password, code: app.nextCode() }
    const { status, headers, text } = await site.visitor().json('/login', credentials)
    assert.deepEqual([status, headers['retry-after']], [503, '5'])
    assert.doesNotMatch(text, /SECRETS_KEY/)
    assert.ok(site.log.some((line) => line.includes('SECRETS_KEY has no key')))
    assert.equal((await other.visitor().json('/login', credentials)).status, 200)
  })

  test('T9 has no effect before the first right code. Until then, a new set-up replaces the key', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const [first, second] = [
      await ada.json('/account/security/totp', {}),
      await ada.json('/account/security/totp', {}),
    ]
    const [old, key] = [first, second].map(({ record }) => fromBase32(String(record.secret)))
    assert.equal(key?.length, 20)
    assert.equal(
      second.record.uri,
      `otpauth://totp/koa-authenticators:ada%40example.com?secret=${second.record.secret}&issuer=koa-authenticators&algorithm=SHA1&digits=6&period=30`,
    )
    const step = stepAt(Date.now())
    const confirm = (code: unknown) => ada.json('/account/security/totp/confirm', { code })
    for (const code of [hotp(old ?? Buffer.alloc(0), step), '000000', '', 1])
      assert.equal((await confirm(code)).status, 400, String(code))
    assert.equal((await ada.get('/account/security')).record.totp, false)
    assert.equal((await site.visitor().post('/login?as=user', basic(person))).status, 200)

    const right = hotp(key ?? Buffer.alloc(0), step)
    assert.equal((await confirm(right)).status, 200)
    assert.deepEqual((await ada.get('/account/security')).record, {
      totp: true,
      recoveryCodesLeft: 10,
      passkeys: [],
      identities: [],
      hasPassword: true,
    })
    const again = await ada.json('/account/security/totp', {})
    assert.deepEqual([again.status, again.record.code], [409, 'second_factor_exists'])
    assert.equal((await confirm(right)).status, 409)
    const signIn = await site.visitor().json('/login', { username: person.email, password, code: right })
    assert.equal(signIn.record.code, 'second_factor_wrong', 'the code of the set-up does not sign in')
  })

  test('T1 is confirmed only once in ten concurrent requests with the right code', async (t) => {
    const { ada } = await siteWithAda(t)
    const { record } = await ada.json('/account/security/totp', {})
    const code = hotp(fromBase32(String(record.secret)), stepAt(Date.now()))
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ada.json('/account/security/totp/confirm', { code })),
    )
    const statuses = answers.map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 1, `${statuses}`)
    for (const status of statuses) assert.ok([200, 400, 401, 409].includes(status), `${status}`)
  })
})

describe('a verified address', () => {
  test('T10 gets a notice when the app is turned on or off, and when recovery codes are used or created', async (t) => {
    const { site, person } = await siteWithAda(t)
    await sql(site, 'update users set email_verified_at = 1')
    await receiveMails(site)
    const app = await turnOnApp(site, person)
    const signIn = { username: person.email, password, code: app.recoveryCodes[0] }
    assert.equal((await app.visitor.json('/login', signIn)).status, 200)
    await app.visitor.json('/account/security/recovery-codes', {})
    await app.visitor.json('/account/security/totp/remove', {})
    const subjects = (await receiveMails(site)).map(({ subject }) => subject)
    for (const expected of [
      'An authenticator app was added',
      'A recovery code was used',
      'Your recovery codes were replaced',
      'Your authenticator app was removed',
    ])
      assert.ok(subjects.includes(`${expected} at koa-authenticators`), expected)
    const { text } = await app.visitor.get('/account/activity')
    for (const event of ['turned on', 'turned off']) assert.match(text, RegExp(`authenticator app ${event}`))
  })
})

describe('a code', () => {
  test('T1 M6 works once, also in concurrent requests to two servers', async (t) => {
    const { site, other, ada, app } = await twoSites(t)
    for (const code of [app.nextCode(), app.nextCode(), app.recoveryCodes[0]]) {
      const pending = await Promise.all(
        [site, other, site, other].map(async ({ visitor }) => {
          const browser = visitor()
          await browser.form('/login', { username: ada.email, password })
          return browser
        }),
      )
      const answers = await Promise.all(
        pending.map((browser) => browser.form('/login/code', { code: code ?? '' })),
      )
      assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 401, 401, 401])
      const signedIn = await Promise.all(pending.map(async (browser) => (await browser.get('/me')).status))
      assert.deepEqual(signedIn.sort(), [200, 401, 401, 401])
    }
    assert.equal((await app.visitor.get('/account/security')).record.recoveryCodesLeft, 9)
  })

  test('T1 cannot complete a pending sign-in that another code completes at the same time', async (t) => {
    const { site, ada, app } = await twoSites(t)
    const browser = site.visitor()
    await browser.form('/login', { username: ada.email, password })
    const cookies = new Map(browser.cookies)
    const attempts = app.recoveryCodes.slice(0, 4).map((code) => {
      const each = site.visitor()
      for (const [name, value] of cookies) each.cookies.set(name, value)
      return each.form('/login/code', { code })
    })
    const locations = (await Promise.all(attempts)).map(({ headers }) => headers.location)
    assert.deepEqual(locations.sort(), ['/account', ...Array(3).fill('/login?expired')])
  })

  test('T2 from the app is accepted only for the current 30-second step, the previous one and the next one', async (t) => {
    const { site, ada, app } = await twoSites(t)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 600_000 })
    const now = stepAt(Date.now())
    const status = async (step: number) =>
      (await site.visitor().json('/login', { username: ada.email, password, code: hotp(app.key, step) }))
        .status
    for (const [offset, expected] of [
      [-2, 401],
      [2, 401],
      [-1, 200],
      [-1, 401],
      [0, 200],
      [1, 200],
    ] as const)
      assert.equal(await status(now + offset), expected, `${offset}`)
  })

  test('P4 is accepted after the clock was a day ahead, once', async (t) => {
    const { site, ada, app } = await twoSites(t)
    const status = async (time: number) => {
      const code = hotp(app.key, stepAt(time))
      return (await site.visitor().json('/login', { username: ada.email, password, code })).status
    }
    const now = Date.now() + 600_000
    t.mock.timers.enable({ apis: ['Date'], now: now + 86_400_000 })
    assert.equal(await status(now + 86_400_000), 200)
    t.mock.timers.setTime(now)
    assert.deepEqual([await status(now), await status(now)], [200, 401])
  })

  test('T1 from the app is rejected if another request uses a code or replaces the key meanwhile', async (t) => {
    const { site, ada, app } = await twoSites(t)
    for (const change of ['last_step = last_step + 1', `secret = 'replaced'`]) {
      const database = await lockDatabase(t, site)
      const answer = site.visitor().json('/login', { username: ada.email, password, code: app.nextCode() })
      await database.waitForStatement(/update .?totp_factors/)
      await database.release(`update totp_factors set ${change}`)
      assert.equal((await answer).record.code, 'second_factor_wrong', change)
    }
  })
})

describe('a recovery code', () => {
  test('T3 has 120 bits, needs the password, and is not stored as plain text', async (t) => {
    const { site, app, ada } = await twoSites(t)
    assert.equal(new Set(app.recoveryCodes).size, 10)
    for (const code of app.recoveryCodes) assert.match(code, /^(?:[A-Z2-7]{4}-){5}[A-Z2-7]{4}$/)
    const stored = JSON.stringify(await dumpAll(site))
    for (const code of app.recoveryCodes)
      for (const form of [code, code.replaceAll('-', ''), code.toLowerCase()])
        assert.ok(!stored.includes(form))
    const [code = ''] = app.recoveryCodes
    const wrongPassword = await site.visitor().json('/login', { username: ada.email, password: 'x', code })
    assert.equal(wrongPassword.record.code, 'wrong_credentials')
    assert.equal((await site.visitor().form('/login/code', { code })).headers.location, '/login?expired')

    const { record } = await app.visitor.json('/account/security/recovery-codes', {})
    const fresh = record.recoveryCodes as string[]
    const status = async (each = '') =>
      (await site.visitor().json('/login', { username: ada.email, password, code: each })).status
    const typed = fresh[0]?.toLowerCase().replaceAll('-', ' ')
    assert.deepEqual([await status(code), await status(typed), await status(fresh[0])], [401, 200, 401])
    const misread = fresh[1]?.replaceAll('O', '0').replaceAll('I', '1').replaceAll('B', '8')
    assert.equal(await status(misread), 200)
  })
})

describe('a recovery code of another account', () => {
  test('T3 is rejected, and still works for its own account', async (t) => {
    const { site, ada, app } = await twoSites(t)
    const bob = await signUp(site, 'Bob')
    await turnOnApp(site, bob)
    const status = async ({ email: username }: typeof ada) =>
      (await site.visitor().json('/login', { username, password, code: app.recoveryCodes[0] })).status
    assert.deepEqual([await status(bob), await status(ada)], [401, 200])
  })
})

describe('a code in the body of a request with Basic', () => {
  test('T6 does not sign in', async (t) => {
    const { site, ada, app } = await twoSites(t)
    for (const path of ['/account/security/totp', '/account/name']) {
      const body = { name: 'Mallory', code: app.nextCode() }
      const { status, record } = await site.visitor().json(path, body, basic(ada))
      assert.deepEqual([status, record.code], [403, 'second_factor_required'], path)
    }
  })
})

describe('an account without a second factor', () => {
  test('T11 signs in without a query on the tables of second factors', async (t) => {
    const { site, person } = await siteWithAda(t)
    const statements = await recordStatements(t, site.orm)
    await signIn(site, person)
    await site.visitor().json('/login', { username: person.email, password })
    await site.visitor().post('/login', basic(person))
    assert.ok(statements.length > 6)
    for (const each of statements)
      assert.doesNotMatch(each, /totp_factors|recovery_codes|pending_sign_ins|passkeys|used_challenges/)
  })
})

describe('SessionStore', () => {
  test('T6 rejects a sign-in without the method `mfa` if the account has a second factor', async (t) => {
    const { store, person, session } = await storeWithApp(t)
    const starting = store.start('A'.repeat(43), { user: person.id }, { ...session, methods: ['pwd', 'otp'] })
    await assert.rejects(starting, /second factor/)
  })

  test('rejects a confirmation with 409 if the set-up of the app has ended the session', async (t) => {
    const { store, person, session, ended } = await storeWithApp(t)
    const confirmation = { ...session, methods: ['pwd'], replaces: ended }
    await assert.rejects(store.start('A'.repeat(43), { user: person.id }, confirmation), { status: 409 })
  })
})

/** A session store, a new session of a user with an authenticator app, and a session that the set-up of the app has ended. */
async function storeWithApp(t: TestContext) {
  const { site, person, ada } = await siteWithAda(t)
  await turnOnApp(site, person)
  const account = await site.orm.em.fork().findOneOrFail(User, { id: person.id })
  const session = { isKept: false, userAgent: '', address: '::1', account }
  return { store: new SessionStore(site.orm, site.uses.sessions), person, session, ended: ada.session }
}
