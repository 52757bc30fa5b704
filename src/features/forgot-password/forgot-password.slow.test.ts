import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { password, signIn, signUp } from '../../testing/people.ts'
import { receiveMail, receiveMails } from '../../testing/receive-mails.ts'
import { recordSiteStatements } from '../../testing/record-site-statements.ts'
import { type Site, startSite } from '../../testing/site.ts'

const sentence = 'If that address has an account, we have sent a link. It works for one hour.'
const newPassword = 'eight wise canaries 1816'
const passwords = { password: newPassword, confirmPassword: newPassword }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** A site with a user. All mails so far have been received. */
async function siteWithAda(t: TestContext, environment = {}) {
  const site = await startSite(t, { THROTTLE: 'on', ...environment })
  const ada = await signUp(site)
  await receiveMails(site)
  return { site, ada }
}

function requestReset(site: Site, email: string) {
  return site.visitor().form('/forgot', { email })
}

function withoutValues(statement: string): string {
  return statement.replace(/'[^']*'|\bnull\b|\d+/g, '?')
}

describe('POST /forgot', () => {
  test('Q1 sends the same response for every address, and below the rate limit runs the same statements', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await signUp(site, 'Bob')
    await signUp(site, 'Eve')
    await sql(site, "update users set disabled_at = 1 where name = 'Bob'")
    await sql(site, "update users set email_verified_at = 1 where name = 'Eve'")
    for (let i = 0; i < 5; i += 1) await requestReset(site, 'throttled@example.com')
    const statements = await recordSiteStatements(t, site)
    const costs: string[][] = []
    for (const address of [ada.email, 'nobody@example.com', 'bob@example.com', 'eve@example.com']) {
      const answer = await requestReset(site, address)
      assert.equal(answer.status, 200)
      assert.ok(answer.text.includes(sentence))
      costs.push([answer.text, ...statements().map(withoutValues)])
    }
    for (const cost of costs) assert.deepEqual(cost, costs[0])
    const throttled = await requestReset(site, 'throttled@example.com')
    assert.deepEqual([throttled.status, throttled.text], [200, costs[0]?.[0]])
  })

  test('Q1 sends the same 202 to JSON requests for every address', async (t) => {
    const { site, ada } = await siteWithAda(t)
    for (const email of [ada.email, 'nobody@example.com']) {
      const answer = await site.visitor().json('/forgot', { email })
      assert.deepEqual([answer.status, answer.record], [202, { detail: sentence }])
      assert.deepEqual(answer.cookies, [])
    }
  })

  test('Q1 mails a link to an enabled account, and nothing to other addresses', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await signUp(site, 'Bob')
    await sql(site, "update users set disabled_at = 1 where name = 'Bob'")
    await receiveMails(site)
    for (const email of ['nobody@example.com', 'bob@example.com', ada.email]) await requestReset(site, email)
    const { to, subject, text, token } = await receiveMail(site)
    assert.deepEqual([to, subject], [ada.email, 'Choose a new password at koa-authenticators'])
    assert.doesNotMatch(text, /\bAda\b/)
    assert.ok(text.includes(`\n${site.url}/reset?token=${token}\n`))
    assert.deepEqual(await sql(site, 'select * from mails'), [])
  })

  test('Q1 only queues the mail, and creates no reset token', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await requestReset(site, ada.email)
    assert.deepEqual(await sql(site, "select * from one_time_tokens where purpose = 'reset'"), [])
    const [mail] = await sql(site, 'select kind, address, user_id from mails')
    assert.deepEqual({ ...mail }, { kind: 'reset', address: ada.email, user_id: null })
  })

  test('finds the account by an address in any letter case, and sends the mail to the address of the account', async (t) => {
    const { site } = await siteWithAda(t)
    await signUp(site, 'Bob', { email: 'Bob@example.com' })
    await receiveMails(site)
    await requestReset(site, 'bOB@example.COM')
    assert.equal((await receiveMail(site)).to, 'Bob@example.com')
  })

  test('rejects an invalid address', async (t) => {
    const { site, ada } = await siteWithAda(t)
    for (const email of ['', 'ada', `${ada.email},eve@example.com`, `${ada.email}\r\nBcc: eve@example.com`]) {
      const answer = await requestReset(site, email)
      assert.equal(answer.status, 400)
      assert.match(answer.text, /<title>Error: Forgot your password\?/)
      const { status, record } = await site.visitor().json('/forgot', { email })
      assert.deepEqual([status, record.code], [400, 'validation_failed'])
    }
    for (const email of [null, 1, ['ada@example.com'], {}])
      assert.equal((await site.visitor().json('/forgot', { email })).status, 400)
    assert.deepEqual(await receiveMails(site), [])
  })

  test('Q3 mails an address at most five times an hour, in any letter case and from any network', async (t) => {
    const { site, ada } = await siteWithAda(t, { TRUST_PROXY: '1' })
    for (let i = 0; i < 7; i += 1) {
      const email = i % 2 === 0 ? ada.email : ada.email.toUpperCase()
      const headers = { 'x-forwarded-for': `203.0.113.${i}` }
      assert.equal((await site.visitor().form('/forgot', { email }, headers)).status, 200)
    }
    assert.equal((await receiveMails(site)).length, 5)
  })

  test('P13 never uses up the mails that the signed-in owner requests, or the first mail of a new account', async (t) => {
    const { site, ada } = await siteWithAda(t, { TRUST_PROXY: '1' })
    for (const email of [ada.email, 'bob@example.com', 'ada@new.example'])
      for (let i = 0; i < 6; i += 1) {
        const headers = { 'x-forwarded-for': `203.0.113.${i}` }
        assert.equal((await site.visitor().form('/forgot', { email }, headers)).status, 200)
      }
    const visitor = await signIn(site, ada)
    assert.equal((await visitor.json('/account/verification', {})).status, 202)
    assert.equal((await visitor.json('/account/email', { email: 'ada@new.example' })).status, 202)
    await signUp(site, 'Bob')
    const kinds = await sql(site, `select kind, address from mails where kind <> 'reset' order by address`)
    assert.deepEqual(
      kinds.map(({ kind, address }) => `${kind} ${address}`),
      [`verify ${ada.email}`, 'change-email ada@new.example', 'verify bob@example.com'],
    )
  })

  test('Q3 rejects requests of a network after twenty in an hour', async (t) => {
    const { site, ada } = await siteWithAda(t, { TRUST_PROXY: '1' })
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    for (let i = 0; i < 20; i += 1) {
      const email = `nobody${i}@example.com`
      assert.equal((await site.visitor().form('/forgot', { email }, headers)).status, 200)
    }
    for (const email of [ada.email, 'nobody@example.com']) {
      const answer = await site.visitor().form('/forgot', { email }, headers)
      assert.equal(answer.status, 429)
      assert.match(answer.text, /Too many attempts from your network\. Try again in/)
      assert.equal((await site.visitor().json('/forgot', { email }, headers)).status, 429)
    }
    assert.equal((await requestReset(site, ada.email)).status, 200)
  })

  test('P2 responds with 503 to every address while 100,000 mails wait, and sign-up adds no mail', async (t) => {
    const site = await startSite(t, { THROTTLE: 'on' })
    await site.outbox?.add(site.orm.em.fork(), { kind: 'reset', to: 'unknown@example.com' })
    const isPostgres = site.config.databaseUrl.startsWith('postgres')
    const id = isPostgres ? 'gen_random_uuid()' : 'lower(hex(randomblob(16)))'
    const others = 'kind, address, data, user_id, created_at, due_at, tries'
    const double = `insert into mails (id, ${others}) select ${id}, ${others} from mails`
    for (let i = 0; i < 17; i += 1) await sql(site, double)
    const ada = await signUp(site)
    assert.deepEqual(await sql(site, 'select * from mails where address = ?', [ada.email]), [])
    for (const email of [ada.email, 'nobody@example.com']) {
      const { status, record, headers } = await site.visitor().json('/forgot', { email })
      assert.deepEqual([status, record.code, headers['retry-after']], [503, 'busy', '60'])
      assert.match((await requestReset(site, email)).text, /Too many mails are waiting/)
    }
  })

  test('Q2 mails a link that begins with the origin of the site, regardless of the Host header', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const hostile = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
    await site.visitor().form('/forgot', { email: ada.email }, hostile)
    const { headers, html, text } = await receiveMail(site)
    assert.ok(text.includes(`${site.url}/reset?token=`))
    assert.doesNotMatch(JSON.stringify([headers, html, text]), /evil/)
  })

  test('P3 adds one event to the account, with the number of requests', async (t) => {
    const { site, ada } = await siteWithAda(t)
    for (let i = 0; i < 3; i += 1) await requestReset(site, ada.email)
    await requestReset(site, 'nobody@example.com')
    const visitor = await signIn(site, ada)
    const { text } = await visitor.page('/account/activity')
    assert.match(text, /Reset link requested, 3 times since \d{1,2} \w{3} \d{4}/)
    assert.doesNotMatch(text, /failed attempts from/)
  })

  test('Q7 does not exist in production without a mail server', async (t) => {
    const { site } = await siteWithAda(t)
    const visitor = site.visitor()
    assert.match((await visitor.page('/login')).text, /<a href="\/forgot">Forgot your password\?<\/a>/)

    const environment = {
      NODE_ENV: 'production',
      PUBLIC_URL: 'http://site.example',
      JWT_SECRET: randomBytes(32).toString('base64'),
    }
    const silent = await startSite(t, { ...environment, BCRYPT_COST: '10', THROTTLE: 'on' })
    assert.equal(silent.outbox, undefined)
    for (const path of ['/forgot', '/verify', '/verify?token=x', '/account/email'])
      assert.equal((await silent.visitor().page(path)).status, 404)
    for (const path of ['/verify', '/account/verification', '/account/email', '/account/email/cancel'])
      assert.equal((await silent.visitor().post(path)).status, 404)
    const ada = await signIn(silent, await signUp(silent))
    assert.doesNotMatch((await ada.page('/account')).text, /confirm|verification/i)
    await ada.form('/account/password', { currentPassword: password, ...passwords })
    assert.deepEqual(await sql(silent, 'select * from mails'), [])
    assert.equal((await silent.visitor().send('POST', '/forgot', form, 'email=a@example.com')).status, 404)
    assert.doesNotMatch((await silent.visitor().page('/login')).text, /forgot/i)
    assert.doesNotMatch((await silent.visitor().page('/reset')).text, /forgot/i)
  })
})
