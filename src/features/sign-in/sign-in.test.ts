import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { count, dump, sql } from '../../testing/database.ts'
import { addAdmin, basic, bearer, password, registration, signIn, signUp } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const json = { 'content-type': 'application/json' }
const challenge = 'Basic realm="restricted", charset="UTF-8"'

describe('POST /login with Basic', () => {
  test('S29 S55 S75 returns a record with a new token each time', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const before = Date.now()
    const { status, record, cookies } = await site.visitor().post('/login', basic(person))
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(record), ['id', 'value', 'user', 'expiresAt'])
    assert.match(String(record.id), /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-/)
    assert.match(String(record.value), /^kauth_[\w-]{49}$/)
    assert.deepEqual(record.user, { id: person.id })
    const days = (Date.parse(String(record.expiresAt)) - before) / (24 * 60 * 60 * 1000)
    assert.ok(days >= 30 && days < 30.001, `${days} days`)
    assert.deepEqual(cookies, [], 'a token starts no session')
    const again = await site.visitor().post('/login', basic(person))
    assert.notEqual(again.record.value, record.value)
    for (const each of [record, again.record])
      assert.equal((await site.visitor().get('/me', bearer(String(each.value)))).record.id, person.id)
  })

  test('S37 S56 S92 with as=jwt returns only a JWT, which is valid for 15 minutes', async (t) => {
    // The clock stands still, because the site computes `exp` before `iat`. It must be mocked before the site starts.
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const site = await startSite(t)
    const person = await signUp(site)
    const { status, record, cookies } = await site.visitor().post('/login?as=jwt', basic(person))
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(record), ['token'])
    assert.deepEqual(cookies, [])
    const [header, payload] = String(record.token).split('.').slice(0, 2).map(decode)
    assert.deepEqual(Object.keys(header ?? {}).sort(), ['alg', 'kid', 'typ'])
    assert.deepEqual(Object.keys(payload ?? {}).sort(), [
      'aud',
      'exp',
      'iat',
      'iss',
      'passwordChangedAt',
      'userId',
    ])
    assert.equal(payload?.userId, person.id)
    assert.equal(Number(payload?.exp) - Number(payload?.iat), 900)
    assert.equal(await count(site, 'user_tokens'), 0)
  })

  test('S57 with as=user returns the user record', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const { status, record } = await site.visitor().post('/login?as=user', basic(person))
    assert.equal(status, 200)
    assert.deepEqual(record, { ...person })
  })

  test('responds with 400 to an invalid `as` parameter, but only if the password is right', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    for (const query of ['as=', 'as=token', 'as=JWT', 'as=jwt&as=jwt', 'as[]=jwt&as=x', 'as=__proto__']) {
      assert.equal((await site.visitor().post(`/login?${query}`, basic(person))).status, 400, query)
      assert.equal((await site.visitor().post(`/login?${query}`, basic(person, 'wrong'))).status, 401, query)
    }
    assert.equal(await count(site, 'user_tokens'), 0)
  })

  test('S54 S58 S96 rejects wrong credentials with 401 and a challenge, and changes no account, session or token', async (t) => {
    const site = await startSite(t, { THROTTLE: 'off' })
    const person = await signUp(site)
    await addAdmin(site)
    const before = await dump(site)
    const wrong: Record<string, string> = {
      'a wrong password': basic(person, 'wrong').authorization,
      'no password': basic(person, '').authorization,
      'the password with a suffix': basic(person, `${password} `).authorization,
      'the address in another case': basic({ email: 'ADA@example.com' }).authorization,
      'an unknown address': basic({ email: 'eve@example.com' }).authorization,
      'an admin': basic({ email: 'grace@example.com' }).authorization,
    }
    const malformed: Record<string, string> = {
      'no colon': `Basic ${btoa(person.email)}`,
      'no base64': 'Basic !!!',
      'lenient base64': `${basic(person).authorization.replace(/=*$/, '')}=====`,
      'a lone scheme': 'Basic',
    }
    const others: Record<string, string> = {
      'another scheme': `Digest ${btoa(`${person.email}:${password}`)}`,
      'a bearer token': 'Bearer kauth_x',
    }
    const details: unknown[] = []
    for (const cases of [wrong, malformed, others]) {
      for (const [what, authorization] of Object.entries(cases)) {
        const { status, challenges, cookies, record } = await site.visitor().post('/login', { authorization })
        assert.deepEqual([status, challenges, cookies], [401, [challenge], []], what)
        details.push(`${record.code}: ${record.detail}`)
      }
    }
    assert.deepEqual(
      [...new Set(details)],
      [
        'wrong_credentials: The username or password is wrong.',
        'authorization_malformed: The `Authorization` header is malformed.',
        'scheme_not_accepted: This route does not accept this authorization scheme.',
        'bearer_not_accepted: This route does not accept bearer tokens.',
      ],
    )
    assert.deepEqual(await dump(site), before)
  })

  test('ignores the body', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site, 'Ada')
    const bob = await signUp(site, 'Bob')
    const bodies: [Record<string, string>, string][] = [
      [form, new URLSearchParams({ username: bob.email, password }).toString()],
      [json, JSON.stringify({ username: bob.email, password })],
      [json, '{'],
      [json, 'x'.repeat(20_000)],
      [{ 'content-type': 'text/plain' }, 'text'],
      [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, 'no gzip'],
    ]
    for (const [headers, body] of bodies) {
      const both = { ...headers, ...basic(ada) }
      const right = await site.visitor().send('POST', '/login?as=user', both, body)
      assert.deepEqual([right.status, right.record.name, right.cookies], [200, 'Ada', []], body.slice(0, 20))
      const wrong = await site.visitor().send('POST', '/login', { ...both, ...basic(ada, 'wrong') }, body)
      assert.deepEqual([wrong.status, wrong.cookies], [401, []], body.slice(0, 20))
    }
  })
})

describe('POST /login with a form', () => {
  test('S59 S60 S86 starts a session and redirects to the account with 303', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const ada = site.visitor()
    const { status, headers, cookies } = await ada.form('/login', { username: person.email, password })
    assert.deepEqual([status, headers.location], [303, '/account'])
    const cookie = cookies.find((each) => each.startsWith('session='))
    assert.match(cookie ?? '', /^session=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/)
    assert.deepEqual((await ada.get('/me')).record, { ...person })
    assert.equal((await ada.page('/account')).status, 200)
  })

  test('H1 I1 redirects to the account if `next` is no valid path on this site', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    // `nextPath` has tests of all targets.
    const bad = ['', '//evil.example', '/account\r\nSet-Cookie: a=b', '/\0', `/${'x'.repeat(2048)}`]
    for (const next of bad) {
      const { status, headers } = await site
        .visitor()
        .form('/login', { username: person.email, password, next })
      assert.deepEqual([status, headers.location], [303, '/account'], JSON.stringify(next))
    }
    const twice = `username=${person.email}&password=${encodeURIComponent(password)}&next=/a&next=/b`
    assert.equal((await site.visitor().send('POST', '/login', form, twice)).headers.location, '/account')
  })

  test('sets a cookie of 30 days with "keep me signed in"', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const fields = { username: person.email, password, remember: 'on' }
    const { cookies } = await site.visitor().form('/login', fields)
    assert.match(cookies.find((each) => each.startsWith('session=')) ?? '', /; Max-Age=2592000;/)
    const [row] = await sql(site, 'select kept from sessions')
    assert.equal(row?.kept, 1)
  })

  test('responds to wrong credentials with 401, no challenge, no cookie, and the form without the password', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const fields = { username: person.email, password: 'wrong canary', next: '/secure?a=1', remember: 'on' }
    const { status, text, cookies, challenges } = await site.visitor().form('/login', fields)
    assert.deepEqual([status, cookies, challenges], [401, [], []])
    assert.match(text, /role="alert"/)
    assert.match(text, /value="ada@example\.com"/)
    assert.match(text, /name="next" value="\/secure\?a=1"/)
    assert.match(text, /name="remember" type="checkbox" value="on"[^>]* checked/)
    assert.ok(!text.includes('wrong canary'))
    const hostile = await site
      .visitor()
      .form('/login', { ...fields, username: '"><script>', next: '//evil.example' })
    assert.ok(hostile.text.includes('value="&quot;&gt;&lt;script&gt;"'))
    assert.match(hostile.text, /name="next" value="\/account"/)
  })

  test('C1 sends the same response for an unknown user, a wrong password, a disabled account and no fields', async (t) => {
    const site = await startSite(t)
    await signUp(site, 'Ada')
    await signUp(site, 'Bob')
    await sql(site, "update users set disabled_at = 1 where name = 'Bob'")
    const answer = async (fields: Record<string, string>) => {
      const { status, text, headers } = await site.visitor().form('/login', fields)
      assert.equal(status, 401)
      assert.match(text, /The e-mail address or password is wrong\./)
      return [
        text.replaceAll(/value="[^"]*@example\.com"/g, 'value=""'),
        { ...headers, date: '', 'content-length': '', 'x-request-id': '' },
      ]
    }
    const wrong = await answer({ username: 'ada@example.com', password: 'wrong' })
    assert.deepEqual(await answer({ username: 'eve@example.com', password: 'wrong' }), wrong)
    assert.deepEqual(await answer({ username: 'bob@example.com', password }), wrong)
    assert.deepEqual(await answer({}), wrong)
  })

  test('rejects a malformed user name like wrong credentials, also with JSON', async (t) => {
    const site = await startSite(t)
    for (const username of ['a\0b', 'ada@example.com\n', 'a'.repeat(1025)]) {
      const credentials = { username, password }
      const { status, text } = await site.visitor().form('/login', credentials)
      assert.deepEqual([status, text.includes('The e-mail address or password is wrong.')], [401, true])
      const { record } = await site.visitor().send('POST', '/login', json, JSON.stringify(credentials))
      assert.equal(record.code, 'wrong_credentials')
    }
  })

  test('C1 names a missing field in the form, with the same response for an unknown account', async (t) => {
    const site = await startSite(t)
    await signUp(site)
    const answer = async (fields: Record<string, string>) => {
      const { status, text } = await site.visitor().form('/login', fields)
      assert.equal(status, 400)
      return text.replaceAll(/value="[^"]*@example\.com"/g, 'value=""')
    }
    for (const password of [undefined, '']) {
      const missing = password === undefined ? {} : { password }
      const known = await answer({ username: 'ada@example.com', ...missing })
      assert.match(known, /Enter your password\./)
      assert.equal(await answer({ username: 'eve@example.com', ...missing }), known)
    }
    assert.match(await answer({ password }), /Enter your e-mail address\./)
    assert.match(await answer({ username: '', password: '' }), /e-mail address\.[\s\S]*Enter your password\./)
  })

  test('E3 changes the session identifier at every sign-in, and the old one is invalid', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const ids = [ada.session]
    for (let i = 0; i < 3; i += 1) ids.push((await signIn(site, person, { visitor: ada })).session)
    assert.equal(new Set(ids).size, 4)
    for (const id of ids.slice(0, 3)) assert.equal((await site.visitor(id).get('/me')).status, 401)
    assert.equal((await site.visitor(ids[3]).get('/me')).status, 200)
    assert.equal(await count(site, 'sessions'), 1)
  })

  test('E4 E18 replaces the session of another user, and none of its data remains', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site, 'Ada')
    const bob = await signUp(site, 'Bob')
    const browser = await signIn(site, ada, { remember: true })
    const old = browser.session
    await sql(site, 'update sessions set data = ?', [JSON.stringify({ user: ada.id, of: 'Ada' })])
    const { cookies } = await browser.form('/login', { username: bob.email, password })
    assert.match(
      cookies.find((each) => each.startsWith('session=')) ?? '',
      /Max-Age=86400;/,
      'the new session has its own lifetime',
    )
    assert.equal((await browser.get('/me')).record.name, 'Bob')
    assert.equal((await site.visitor(old).get('/me')).status, 401)
    const rows = (await dump(site)).sessions
    assert.deepEqual(
      rows?.map(({ user_id, data, kept }) => [user_id, Object.keys(JSON.parse(String(data))).sort(), kept]),
      [[bob.id, ['offersPasskey', 'user', 'user:authenticated'], 0]],
    )
  })
})

describe('POST /login with JSON', () => {
  test('starts a session and returns the user record', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const ada = site.visitor()
    const { status, record } = await ada.json('/login', { username: person.email, password })
    assert.equal(status, 200)
    assert.deepEqual(record, { ...person })
    assert.deepEqual((await ada.get('/me')).record, { ...person })
    const kept = await site.visitor().json('/login', { username: person.email, password, remember: true })
    assert.match(kept.cookies.find((each) => each.startsWith('session=')) ?? '', /; Max-Age=2592000;/)
  })

  test('responds with 401, a challenge and no cookie to wrong credentials, and with 400 to a body that is not an object', async (t) => {
    const site = await startSite(t, { THROTTLE: 'off' })
    const { email } = await signUp(site)
    const refused: unknown[] = [
      { username: email, password: 'wrong' },
      { username: 'eve@example.com', password },
      { username: 'ADA@example.com', password },
      {},
      { email },
      { username: `${email}\0`, password },
      { username: 'x'.repeat(10_000), password },
      { username: email, password: 'x'.repeat(10_000) },
      { username: '\ud800', password },
      Object.fromEntries([['__proto__', { username: email, password }]]),
    ]
    for (const each of refused) {
      const { status, challenges, cookies } = await site.visitor().json('/login', each)
      assert.deepEqual(
        [status, challenges, cookies],
        [401, [challenge], []],
        JSON.stringify(each).slice(0, 60),
      )
    }
    for (const each of [[], [email, password], null, email, 1])
      assert.equal((await site.visitor().json('/login', each)).status, 400, JSON.stringify(each))
    assert.equal(await count(site, 'sessions'), 0)
  })

  test('rejects wrong credentials with a lone surrogate in `next`, and counts the attempt', async (t) => {
    const site = await startSite(t, { THROTTLE: 'on' })
    const { email } = await signUp(site)
    const fields = { username: email, password: 'a wrong guess', next: '/\ud800' }
    const statuses = []
    for (let guess = 0; guess < 11; guess += 1) {
      const { status, text } = await site.visitor().json('/login', fields, { accept: 'text/html' })
      statuses.push(status)
      assert.match(text, /<!doctype html>/)
    }
    assert.deepEqual(statuses, [...Array(10).fill(401), 429])
    const [refused] = await sql(site, "select times from events where event = 'credentials refused'")
    assert.equal(refused?.times, 10)
    const wrong = { name: '', next: '/\ud800' }
    assert.equal((await site.visitor().json('/users', wrong, { accept: 'text/html' })).status, 400)
  })

  test('responds with 400 and names each field that is missing or not a string, also for an unknown account', async (t) => {
    const site = await startSite(t)
    const { email } = await signUp(site)
    const username = { field: 'username', detail: '`username` is missing.' }
    const missing = { field: 'password', detail: '`password` is missing.' }
    const strings = 'Send the user name and the password as strings.'
    const cases: [unknown, unknown[]][] = [
      [{ email, password }, [username]],
      [{ password }, [username]],
      [{ username: email }, [missing]],
      [{ username: 'eve@example.com' }, [missing]],
      [{ username: '', password: '' }, [username, missing]],
      [{ username: { $ne: '' }, password }, [{ field: 'username', detail: strings }]],
      [{ username: [email], password }, [{ field: 'username', detail: strings }]],
      [{ username: email, password: { $ne: '' } }, [{ field: 'password', detail: strings }]],
    ]
    for (const [body, errors] of cases) {
      const { status, record, cookies } = await site.visitor().json('/login', body)
      assert.deepEqual([status, record.code, record.errors], [400, 'validation_failed', errors])
      assert.deepEqual(cookies, [])
    }
  })
})

describe('POST /login without usable credentials', () => {
  test('responds with 401 even with a valid session, and keeps the session', async (t) => {
    const { site, ada } = await siteWithAda(t)
    for (const visitor of [site.visitor(), ada]) {
      const empty = await visitor.post('/login')
      assert.deepEqual([empty.status, empty.challenges, empty.cookies], [401, [challenge], []])
      assert.equal((await visitor.json('/login', {})).status, 401)
      assert.equal((await visitor.form('/login', {})).status, 401)
      assert.equal((await visitor.post('/login?as=user')).status, 401)
      assert.equal((await visitor.post('/login', { accept: 'text/html' })).status, 401)
    }
    assert.equal((await ada.get('/me')).status, 200)
  })
})

describe('POST /login with an address in mixed case', () => {
  test('S27 S72 accepts the address in JSON and Basic only as it was entered at sign-up', async (t) => {
    const site = await startSite(t)
    await site.visitor().json('/users', registration('Ada', { email: 'Ada.L@Example.com' }))
    const status = async (username: string) =>
      (await site.visitor().json('/login', { username, password })).status
    assert.equal(await status('Ada.L@Example.com'), 200)
    assert.equal(await status('ada.l@example.com'), 401)
    const header = basic({ email: 'ada.l@example.com' })
    const body = new URLSearchParams({ username: 'Ada.L@Example.com' }).toString()
    assert.equal((await site.visitor().send('POST', '/login', { ...header, ...form }, body)).status, 401)
  })

  test('accepts the address in a form in any case, from a known device too', async (t) => {
    const site = await startSite(t, { THROTTLE: 'on' })
    const { id } = await signUp(site, 'Ada', { email: 'Ada.L@Example.com' })
    const visitor = await signIn(site, { email: 'Ada.L@Example.com' })
    await visitor.form('/logout', {})
    for (let i = 0; i < 10; i += 1)
      await site.visitor().form('/login', { username: 'ada.l@example.com', password: 'wrong' })
    assert.equal(
      (await site.visitor().form('/login', { username: 'ada.l@example.com', password })).status,
      429,
    )
    await signIn(site, { email: 'ADA.l@example.com' }, { visitor })
    assert.equal((await visitor.get('/me')).record.id, id)
    const fields = { currentPassword: password, password: 'eight wise canaries 1816' }
    const changed = { ...fields, confirmPassword: fields.password }
    assert.equal((await visitor.form('/account/password', changed)).status, 303)
  })
})

function decode(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}
