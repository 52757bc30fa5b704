import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sql } from '../testing/database.ts'
import { addAdmin } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'

const password = 'analytical engine 1843'
const form = (fields: Record<string, string>) => new URLSearchParams(fields)

async function siteWithAda(t: TestContext, environment: Record<string, string> = {}) {
  const site = await startSite(t, { THROTTLE: 'on', TRUST_PROXY: '1', ...environment })
  const post = (
    path: string,
    body: string | URLSearchParams,
    headers: Record<string, string> = {},
    from = '192.0.2.1',
  ) =>
    fetch(site.url + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'X-Forwarded-For': from, ...headers },
      body,
    })
  const basic = (path: string, pass: string, from?: string, email = 'ada@example.com') =>
    post(path, '', { Authorization: `Basic ${btoa(`${email}:${pass}`)}` }, from)
  await post('/users', form({ name: 'Ada', email: 'ada@example.com', password, confirmPassword: password }))
  return { ...site, post, basic }
}

describe('the rate limit of passwords', () => {
  test('names the used-up allowance in the log, with the variable that turns rate limits off', async (t) => {
    const { basic, log } = await siteWithAda(t)
    for (let i = 0; i < 51; i += 1) await basic('/login', 'wrong', '192.0.2.9', `user-${i >> 3}@example.com`)
    for (let i = 0; i < 11; i += 1) await basic('/login', 'wrong', '192.0.2.8')
    const lines = log.map((line) => JSON.parse(line)).filter(({ event }) => event === 'throttled')
    assert.deepEqual(
      lines.map(({ allowance, hint }) => [allowance, hint]),
      ['network: 50', 'account and network: 10'].map((allowance) => [
        `${allowance} (failure) in 15 minutes`,
        'Set THROTTLE=off to disable rate limits.',
      ]),
    )
  })

  test('D5 also covers the password of an admin', async (t) => {
    const site = await siteWithAda(t)
    const { email } = await addAdmin(site)
    const secure = () =>
      fetch(`${site.url}/secure`, { headers: { Authorization: `Basic ${btoa(`${email}:wrong`)}` } })
    const statuses = []
    for (let i = 0; i < 11; i += 1) statuses.push((await secure()).status)
    assert.deepEqual(statuses, [...Array(10).fill(401), 429])
  })

  test('accepts a device cookie neither as a credential nor for another account', async (t) => {
    const { url, basic, post } = await siteWithAda(t)
    const signUp = { name: 'Eve', email: 'eve@example.com', password, confirmPassword: password }
    const eve = await post('/users', form(signUp), {}, '203.0.113.1')
    const Cookie =
      eve.headers
        .getSetCookie()
        .find((each) => each.startsWith('device='))
        ?.split(';')[0] ?? ''
    assert.equal((await fetch(`${url}/me`, { headers: { Cookie } })).status, 401)
    for (let i = 0; i < 10; i += 1) await basic('/login', 'wrong')
    assert.equal(
      (await post('/login', form({ username: 'ada@example.com', password }), { Cookie })).status,
      429,
    )
  })

  test('D8 uses only the address that the trusted proxy added', async (t) => {
    const { basic } = await siteWithAda(t)
    const statuses = []
    for (let i = 0; i < 11; i += 1)
      statuses.push((await basic('/login', 'wrong', `10.0.0.${i}, 192.0.2.1`)).status)
    assert.deepEqual(statuses, [...Array(10).fill(401), 429])
  })

  test('P2 writes no row for a password that is too long', async (t) => {
    const { basic, post, ...site } = await siteWithAda(t)
    for (const table of ['attempts', 'events']) await sql(site, `delete from ${table}`)
    const tooLong = 'x'.repeat(1025)
    for (const username of ['ada@example.com', 'nobody@example.com']) {
      assert.equal((await post('/login', form({ username, password: tooLong }))).status, 401)
      assert.equal((await basic('/login', tooLong, '192.0.2.2', username)).status, 401)
    }
    for (const table of ['attempts', 'events'])
      assert.deepEqual(await sql(site, `select * from ${table}`), [])
  })
})

describe('a sign-in', () => {
  test('replaces an invented device cookie and a device cookie of another account', async (t) => {
    const { post } = await siteWithAda(t)
    const deviceOf = (answer: Response) =>
      /^device=[\w-]{43}(?=;)/.exec(
        answer.headers.getSetCookie().find((each) => each.startsWith('device=')) ?? '',
      )?.[0] ?? assert.fail()
    const eve = { name: 'Eve', email: 'eve@example.com', password, confirmPassword: password }
    for (const planted of [`device=${'x'.repeat(43)}`, deviceOf(await post('/users', form(eve)))]) {
      const signIn = () =>
        post('/login', form({ username: 'ada@example.com', password }), { Cookie: planted })
      assert.notEqual(deviceOf(await signIn()), planted)
    }
  })
})
