import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { password, signUp } from '../../testing/people.ts'
import { receiveMails } from '../../testing/receive-mails.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { startSite } from '../../testing/site.ts'

const minute = 60_000
const quarter = 15 * minute
const day = 24 * 60 * minute

/** A user with an authenticator app, and functions that send a code from a network. The clock stands still. */
async function siteWithApp(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: Math.floor(Date.now() / 30_000) * 30_000 })
  const site = await startSite(t, { THROTTLE: 'on', TRUST_PROXY: '1' })
  const ada = await signUp(site)
  const app = await turnOnApp(site, ada)
  const from = (network: number) => ({ 'x-forwarded-for': `192.0.2.${network}` })
  const json = async (code: unknown, network = 1, visitor = site.visitor()) =>
    (await visitor.json('/login', { username: ada.email, password, code }, from(network))).status
  /** Signs in with the password, then sends a code by form. */
  const form = async (code: string, network = 1, visitor = site.visitor()) => {
    const first = await visitor.form('/login', { username: ada.email, password }, from(network))
    if (first.status !== 303) return first.status
    return (await visitor.form('/login/code', { code }, from(network))).status
  }
  return { site, ada, app, from, json, form }
}

const times = async (count: number, guess: () => Promise<number>) => {
  const statuses = new Set<number>()
  for (let i = 0; i < count; i += 1) statuses.add(await guess())
  return [...statuses]
}

describe('guesses of a code', () => {
  test('T4 D5 are limited to ten in 15 minutes from one network, also after a new sign-in', async (t) => {
    const { app, json, form, site, ada, from } = await siteWithApp(t)
    assert.deepEqual(await times(5, () => form('000000')), [401])
    assert.deepEqual(await times(4, () => json('000000')), [401])
    const browser = site.visitor()
    await browser.form('/login', { username: ada.email, password }, from(1))
    assert.equal((await browser.form('/login/code', { code: '000000' }, from(1))).status, 401)
    const refused = await browser.form('/login/code', { code: app.nextCode() }, from(1))
    assert.equal(refused.status, 429)
    assert.match(refused.text, /Too many attempts/)
    assert.deepEqual([await form('000000'), await json('000000')], [429, 429])
    t.mock.timers.tick(quarter)
    assert.equal(await json(app.recoveryCodes[0]), 200)
  })

  test('T4 are limited to 20 a day for an account over all networks', async (t) => {
    const { site, app, json, form } = await siteWithApp(t)
    for (let i = 0; i < 20; i += 1) assert.equal(await json('000000', i % 5), 401)
    assert.deepEqual([await json(app.nextCode(), 100), await form(app.nextCode(), 101)], [429, 429])
    const { record } = await site
      .visitor()
      .json('/login', { username: 'ada@example.com', password, code: '1' })
    assert.equal(record.code, 'rate_limited')
    t.mock.timers.tick(day)
    assert.equal(await json(app.recoveryCodes[0], 100), 200)
  })

  test('T4 D3 on a known device have a separate limit', async (t) => {
    const { json, app } = await siteWithApp(t)
    const device = app.visitor
    for (let i = 0; i < 20; i += 1) assert.equal(await json('000000', i % 5), 401)
    assert.equal(await json(app.recoveryCodes[0], 100), 429)
    assert.equal(await json(app.recoveryCodes[0], 100, device), 200)
    assert.deepEqual(await times(10, () => json('000000', 100, device)), [401])
    assert.equal(await json('000000', 100, device), 429)
    t.mock.timers.tick(quarter)
    assert.deepEqual(await times(10, () => json('000000', 100, device)), [401])
    t.mock.timers.tick(quarter)
    assert.equal(await json(app.recoveryCodes[1], 100, device), 429)
  })

  test('T4 include wrong recovery codes, and wrong codes in a confirmation or a set-up', async (t) => {
    const { site, app, json } = await siteWithApp(t)
    assert.deepEqual(await times(10, () => json('A'.repeat(24))), [401])
    assert.equal(await json('A'.repeat(24)), 429)
    const device = app.visitor
    const confirm = async (code: string) => (await device.json('/confirm', { code })).status
    assert.deepEqual(await times(10, () => confirm('000000')), [401])
    assert.equal(await confirm(app.nextCode()), 429)

    const bob = site.visitor()
    const person = await signUp(site, 'Bob')
    await bob.form('/login', { username: person.email, password })
    await bob.json('/account/security/totp', {})
    const finish = async () => (await bob.json('/account/security/totp/confirm', { code: '000000' })).status
    assert.deepEqual(await times(10, finish), [400])
    assert.equal(await finish(), 429)
  })

  test('T4 D6 are also limited in concurrent requests', async (t) => {
    const { json } = await siteWithApp(t)
    const statuses = await Promise.all(Array.from({ length: 40 }, () => json('000000')))
    assert.equal(statuses.filter((status) => status === 401).length, 10)
    assert.equal(statuses.filter((status) => status === 429).length, 30)
  })

  test('T4 do not include a code that is not a string', async (t) => {
    const { json, app } = await siteWithApp(t)
    for (const code of [123456, ['000000'], {}, null, true])
      assert.deepEqual(await times(3, () => json(code)), [400], JSON.stringify(code))
    assert.equal(await json(app.nextCode()), 200)
  })

  test('T10 cause a mail to a verified address if the device is unknown', async (t) => {
    const { site, app, json } = await siteWithApp(t)
    await sql(site, 'update users set email_verified_at = 1')
    await receiveMails(site)
    await json('000000', 7)
    await json('000000', 7, app.visitor)
    const mails = await receiveMails(site)
    assert.deepEqual(
      mails.map(({ subject }) => subject),
      ['Wrong code for your account at koa-authenticators'],
    )
    assert.match(mails[0]?.text ?? '', /192\.0\.2\.7/)
    assert.doesNotMatch(mails[0]?.text ?? '', /null|undefined|Recovery codes left/)
    const { text } = await app.visitor.get('/account/activity')
    assert.match(text, /"code refused"/)
  })
})
