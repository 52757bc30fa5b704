import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../testing/database.ts'
import {
  addAdmin,
  basic,
  bearer,
  password,
  registration,
  signIn,
  signUp,
  takeJWT,
  takeToken,
} from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'
import { siteWithAda } from '../testing/site-with-ada.ts'

const newPassword = 'eleven brave canaries 1843'
const reset = (site: Site) => {
  site.log.length = 0
  return sql(site, 'delete from events')
}

/** The rows of the audit trail, oldest first. */
function rowsOf(site: Site) {
  return sql(site, 'select event, user_id, address, user_agent, request, times from events order by id')
}

/** The events of the audit trail with their accounts. Asserts that the log has the same events. */
async function trailOf(site: Site): Promise<[unknown, unknown][]> {
  const rows = (await rowsOf(site)).flatMap(({ event, user_id, times }): [unknown, unknown][] =>
    Array<[unknown, unknown]>(Number(times)).fill([event, user_id]),
  )
  const lines = linesOf(site).map(({ event, user, admin }) => [event, user ?? admin ?? null])
  assert.deepEqual(lines, rows)
  return rows
}

function linesOf({ log }: Pick<Site, 'log'>, kind = 'authentication'): Record<string, unknown>[] {
  return log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === kind)
}

describe('the audit trail', () => {
  test('records sign-ups, sign-ins, sign-outs, issued tokens and used passwords', async (t) => {
    const site = await startSite(t)
    const { id, ...ada } = await signUp(site)
    const browser = await signIn(site, ada)
    await browser.json('/login', { username: ada.email, password })
    await takeToken(site, ada)
    await takeJWT(site, ada)
    await site.visitor().post('/login?as=user', basic(ada))
    await browser.form('/logout', {})
    await browser.form('/users', { ...registration('Bob'), password, confirmPassword: password } as never)
    const [bob] = await sql(site, "select id from users where name = 'Bob'")
    assert.deepEqual(await trailOf(site), [
      ['signed up', id],
      ['signed in', id],
      ['signed in', id],
      ['token issued', id],
      ['token issued', id],
      ['password used', id],
      ['signed out', id],
      ['signed up', bob?.id],
    ])
  })

  test('records a sign-up under the new account, even in the session of another user', async (t) => {
    const { site, ada: browser } = await siteWithAda(t)
    await reset(site)
    const bob = await browser.json('/users', registration('Bob'))
    assert.deepEqual(await trailOf(site), [['signed up', bob.record.id]])
  })

  test('records a wrong password under its account, from forms, JSON, Basic and a password change', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    const grace = await addAdmin(site)
    const browser = await signIn(site, ada)
    await reset(site)
    const wrong = { username: ada.email, password: 'wrong' }
    await site.visitor().form('/login', wrong)
    await site.visitor().json('/login', wrong)
    await site.visitor().post('/login', basic(ada, 'wrong'))
    await site.visitor().get('/account/activity', basic(ada, 'wrong'))
    await browser.form('/account/password', {
      currentPassword: 'wrong',
      password: newPassword,
      confirmPassword: newPassword,
    })
    await site.visitor().get('/secure', basic(grace, 'wrong'))
    await site.visitor().json('/login', { username: 'nobody@example.com', password })
    assert.deepEqual(await trailOf(site), [
      ...Array(5).fill(['credentials refused', ada.id]),
      ['credentials refused', grace.id],
      ['credentials refused', null],
    ])
    for (const { outcome } of linesOf(site)) assert.equal(outcome, 'refusal')
  })

  test('records only the successful changes of an account', async (t) => {
    const { site, person: ada, ada: browser } = await siteWithAda(t)
    await signIn(site, ada)
    const others = await browser.get('/account/sessions')
    const other = (JSON.parse(others.text) as { id: string; current: boolean }[]).find(
      (each) => !each.current,
    )
    await reset(site)
    await browser.form('/account/name', { name: '' })
    await browser.form('/account/name', { name: 'Ada King' })
    await browser.post(`/account/sessions/${other?.id}/end`)
    await browser.post(`/account/sessions/${other?.id}/end`)
    await browser.post('/account/sessions/end-others')
    const change = { currentPassword: password, password: newPassword, confirmPassword: newPassword }
    await browser.form('/account/password', { ...change, confirmPassword: 'another' })
    await browser.form('/account/password', change)
    await browser.form('/account/close', { password: newPassword })
    await browser.form('/account/close', { password: newPassword, confirm: 'on' })
    assert.deepEqual(
      await trailOf(site),
      ['name changed', 'session ended', 'other sessions ended', 'password changed', 'account closed'].map(
        (event) => [event, ada.id],
      ),
    )
  })

  test('records the actions of an API client in addition to the use of the password', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    await reset(site)
    const type = { 'content-type': 'application/json', ...basic(ada) }
    await site.visitor().json('/account/name', { name: '' }, type)
    await site.visitor().json('/account/name', { name: 'Ada King' }, type)
    await site.visitor().json('/account/close', { password }, type)
    const events = linesOf(site).map(({ event, user }) => [event, user])
    assert.deepEqual(
      events,
      ['password used', 'password used', 'name changed', 'password used', 'account closed'].map((event) => [
        event,
        ada.id,
      ]),
    )
  })

  test('records a right password of a request that is rejected later', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    const { id } = await signUp(site, 'Bob')
    for (const path of ['/login?as=nothing', `/account/sessions/${id}/end`]) {
      await reset(site)
      assert.ok([400, 404].includes((await site.visitor().post(path, basic(ada))).status))
      assert.deepEqual(
        linesOf(site).map(({ event, user }) => [event, user]),
        [['password used', ada.id]],
        path,
      )
    }
  })

  test('records a sign-up, but not a sign-in, if the session cannot start', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    await reset(site)
    await sql(site, 'alter table sessions rename to moved_sessions')
    const bob = registration('Bob') as never
    assert.equal((await site.visitor().form('/users', bob)).status, 503)
    assert.equal((await site.visitor().form('/login', { username: ada.email, password })).status, 503)
    assert.deepEqual(
      linesOf(site).map(({ event }) => event),
      ['signed up'],
    )
  })

  test('logs invalid or unaccepted credentials once for each request, without an account, and writes no row', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    await reset(site)
    await site.visitor().get('/me', bearer('kauth_x'))
    await site.visitor().get('/me', basic(ada))
    await site.visitor().post('/login', { authorization: 'Basic x' })
    await site.visitor().json('/login', { username: `${ada.email}\0`, password: 'x' })
    await site.visitor().form('/login', { username: `${ada.email}\0`, password: 'x' })
    await site.visitor().get('/me')
    assert.deepEqual(
      linesOf(site).map(({ event, user }) => [event, user]),
      Array(5).fill(['credentials refused', undefined]),
    )
    assert.deepEqual(await rowsOf(site), [])
  })

  test('records every use of an admin account', async (t) => {
    const site = await startSite(t)
    const grace = await addAdmin(site)
    await site.visitor().get('/secure', basic(grace))
    await site.visitor().get('/secure', basic(grace))
    assert.deepEqual(await trailOf(site), [
      ['admin used', grace.id],
      ['admin used', grace.id],
    ])
    assert.deepEqual(
      linesOf(site).map(({ admin }) => admin),
      [grace.id, grace.id],
    )
  })

  test('records the address, the device and the id of the request, which also has its own log line', async (t) => {
    const site = await startSite(t, { TRUST_PROXY: '1' })
    const ada = await signUp(site)
    await reset(site)
    const from = { 'x-forwarded-for': '203.0.113.7', 'user-agent': `Firefox\t\t143 ${'x'.repeat(400)}` }
    await site.visitor().json('/login', { username: ada.email, password }, from)
    const [row, ...more] = await rowsOf(site)
    assert.equal(row?.address, '203.0.113.7')
    assert.equal(row?.user_agent, `Firefox 143 ${'x'.repeat(400)}`.slice(0, 255))
    const [line] = linesOf(site)
    assert.deepEqual(
      [line?.address, line?.userAgent, line?.request],
      [row?.address, row?.user_agent, row?.request],
    )
    assert.match(String(line?.time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const requests = linesOf(site, 'request')
    assert.deepEqual([requests.map(({ request }) => request), more], [[row?.request], []])
  })

  test('P2 writes one row for many failed attempts at an account and one for unknown accounts, and none for throttled attempts', async (t) => {
    const site = await startSite(t, { THROTTLE: 'on' })
    const ada = await signUp(site)
    await reset(site)
    for (let i = 0; i < 40; i += 1) await site.visitor().post('/login', basic(ada, 'wrong'))
    for (let i = 0; i < 80; i += 1) await site.visitor().post('/login', basic({ email: `${i}@example.com` }))
    const rows = await rowsOf(site)
    assert.deepEqual(
      rows.map(({ event, user_id, times }) => [event, user_id, times]),
      [
        ['credentials refused', ada.id, 10],
        ['credentials refused', null, 40],
      ],
    )
    assert.equal(linesOf(site).length, 120, 'the log has every attempt')
  })

  test('lets sign-in and sign-out succeed even if it cannot write a row, and logs an error', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    site.log.length = 0
    await sql(site, 'alter table events rename to lost')
    const browser = await signIn(site, ada)
    assert.equal((await browser.get('/me')).status, 200)
    assert.equal((await browser.form('/login', { username: ada.email, password: 'wrong' })).status, 401)
    assert.equal((await browser.get('/me')).status, 200)
    assert.equal((await browser.form('/logout', {})).status, 303)
    assert.equal((await browser.get('/me')).status, 401)
    assert.deepEqual(
      linesOf(site).map(({ event, user }) => [event, user]),
      ['signed in', 'credentials refused', 'signed out'].map((event) => [event, ada.id]),
    )
    const requests = linesOf(site).map(({ request }) => request)
    const errors = linesOf(site, 'the audit trail in the database lacks an event')
    assert.deepEqual(
      errors.map(({ level, request }) => [level, request]),
      requests.map((request) => [50, request]),
    )
  })

  test('records no event if the password cannot be checked because the database fails', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    await reset(site)
    await sql(site, 'alter table users rename to lost')
    assert.equal((await site.visitor().post('/login', basic(ada))).status, 503)
    assert.equal((await site.visitor().json('/login', { username: ada.email, password })).status, 503)
    assert.deepEqual([await rowsOf(site), linesOf(site)], [[], []])
  })
})
