import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { SessionToken } from '#auth/jwt'
import { count, dump, hide, sql } from '../../testing/database.ts'
import {
  basic,
  bearer,
  keysOf,
  type Person,
  password,
  signIn,
  signUp,
  takeJWT,
  takeToken,
} from '../../testing/people.ts'
import { type Site, startSite } from '../../testing/site.ts'

const newPassword = 'eight wise canaries 1816'
const change = { currentPassword: password, password: newPassword, confirmPassword: newPassword }
const path = '/account/password'

describe('GET /account/password', () => {
  test('L7 is a form that password managers support', async (t) => {
    const { ada, person } = await siteWithAda(t)
    const { status, text, headers } = await ada.page(path)
    assert.equal(status, 200)
    assert.equal(headers['cache-control'], 'no-store')
    assert.match(text, /<form method="post" action="\/account\/password"/)
    const inputs = [...text.matchAll(/<input[^>]*>/g)].map(([input]) => input)
    const described = inputs.map((input) =>
      ['name', 'type', 'autocomplete'].map((name) => new RegExp(` ${name}="([^"]*)"`).exec(input)?.[1]),
    )
    assert.deepEqual(described, [
      ['username', 'text', 'username'],
      ['currentPassword', 'password', 'current-password'],
      ['password', 'password', 'new-password'],
      ['confirmPassword', 'password', 'new-password'],
    ])
    assert.match(inputs[0] ?? '', new RegExp(` value="${person.email}".* readonly `))
    for (const input of inputs.slice(1)) assert.doesNotMatch(input, /value=|maxlength|onpaste|readonly/)
  })
})

describe('GET /.well-known/change-password', () => {
  test('redirects to the page with 303, and responds to similar paths with 404', async (t) => {
    const { site, ada } = await siteWithAda(t)
    for (const visitor of [ada, site.visitor()]) {
      for (const answer of [
        await visitor.get('/.well-known/change-password'),
        await visitor.page('/.well-known/change-password'),
      ]) {
        assert.deepEqual([answer.status, answer.headers.location, answer.cookies], [303, path, []])
      }
      for (const other of [
        'resource-that-should-not-exist-whose-status-code-should-not-be-200',
        'change-password/',
        'Change-Password',
        'security.txt',
        '',
      ])
        assert.equal((await visitor.page(`/.well-known/${other}`)).status, 404, other)
    }
    assert.equal((await ada.post('/.well-known/change-password')).status, 405)
  })
})

describe('POST /account/password', () => {
  test('E10 changes the password by form with 303, and shows the notice of the ended sessions and tokens once', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    await takeToken(site, person)
    await takeToken(site, person)
    assert.match((await ada.page(path)).text, /signs out your other sessions and revokes your 2 API tokens\./)
    const { status, headers } = await ada.form(path, change)
    assert.deepEqual([status, headers.location], [303, '/account'])
    const notice =
      /<p>Your password has been changed\. All other sessions have been signed out, and 2 API tokens have been revoked\./
    assert.match((await ada.page('/account')).text, notice)
    assert.doesNotMatch((await ada.page('/account')).text, /has been changed/)
    const login = (secret: string) => site.visitor().post('/login?as=user', basic(person, secret))
    assert.equal((await login(password)).status, 401)
    assert.equal((await login(newPassword)).status, 200)
  })

  test('E3 E10 ends all other sessions and all tokens, and renews the session identifier', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const bobsToken = await takeToken(site, { email: 'bob@example.com' })
    const others = [await signIn(site, person), await signIn(site, person, { remember: true })]
    const tokens = [await takeToken(site, person), await takeToken(site, person)]
    const old = ada.session
    assert.equal((await ada.form(path, change)).status, 303)
    assert.notEqual(ada.session, old)
    assert.equal((await ada.get('/me')).status, 200)
    for (const each of [site.visitor(old), ...others]) assert.equal((await each.get('/me')).status, 401)
    for (const token of tokens) assert.equal((await site.visitor().get('/me', bearer(token))).status, 401)
    assert.equal((await bob.get('/me')).status, 200)
    assert.equal((await site.visitor().get('/me', bearer(bobsToken))).status, 200)
    assert.deepEqual([await count(site, 'sessions'), await count(site, 'user_tokens')], [2, 1])
  })

  test('keeps the session persistent if it was persistent', async (t) => {
    const { site, person } = await siteWithAda(t)
    const ada = await signIn(site, person, { remember: true })
    const { cookies } = await ada.form(path, change)
    assert.match(cookies.join('\n'), /^session=[\w-]{43}; Max-Age=2592000;/)
    assert.deepEqual(await sql(site, 'select kept from sessions'), [{ kept: 1 }])
  })

  test('returns the numbers of ended sessions and tokens as JSON with 200', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    await signIn(site, person)
    await takeToken(site, person)
    const old = ada.session
    const { status, record } = await ada.json(path, change)
    assert.deepEqual([status, record], [200, { sessionsEnded: 1, tokensRevoked: 1 }])
    assert.notEqual(ada.session, old)
    assert.equal((await ada.get('/me')).status, 200)
  })

  test('E10 requires the current password in the body even with Basic, and starts no session', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const missing = await site.visitor().json(path, { ...change, currentPassword: '' }, basic(person))
    assert.equal(missing.status, 400)
    const { status, record, cookies } = await ada.json(path, change, basic(person))
    assert.deepEqual([status, record, cookies], [200, { sessionsEnded: 1, tokensRevoked: 0 }, []])
    assert.equal(await count(site, 'sessions'), 0)
    assert.equal((await ada.get('/me')).status, 401)
    assert.equal((await site.visitor().get('/account/password', basic(person))).status, 303)
  })

  test('J9 ends older JWTs at routes that load the user, and accepts newer ones', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const old = await takeJWT(site, person)
    const request = (route: string, token: string) => site.visitor().get(route, bearer(token))
    for (const route of ['/me', '/secure']) assert.equal((await request(route, old)).status, 200)
    await ada.json(path, change)
    for (const route of ['/me', '/secure']) assert.equal((await request(route, old)).status, 401, route)
    const { record } = await site.visitor().post('/login?as=jwt', basic(person, newPassword))
    for (const route of ['/me', '/secure'])
      assert.equal((await request(route, String(record.token))).status, 200, route)
    // This route does not load the user, so it accepts the token.
    assert.equal((await site.visitor().post('/validateLoggedInUser', bearer(old))).status, 200)
  })

  test('J9 rejects a JWT without `passwordChangedAt` that was issued in the same second as the change', async (t) => {
    const { site, person } = await siteWithAda(t)
    const second = Math.floor(Date.now() / 1000) * 1000 - 10_000
    const token = await keysOf(site, () => second).sign(
      new SessionToken(person.id, new Date(second + SessionToken.lifetime * 1000)),
    )
    const at = async (changedAt: number) => {
      await sql(site, 'update users set password_changed_at = ?', [changedAt])
      return (await site.visitor().get('/me', bearer(token))).status
    }
    assert.deepEqual(
      [await at(second - 1), await at(second), await at(second + 1), await at(second + 999)],
      [200, 401, 401, 401],
    )
  })

  test('E10 reports a wrong current password and an invalid new password together, each at its field', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const before = await dump(site)
    const wrong = { currentPassword: 'wrong canary', password: 'short', confirmPassword: 'other' }
    const json = await ada.json(path, wrong)
    assert.equal(json.status, 400)
    assert.deepEqual(json.record.errors, [
      { field: 'currentPassword', detail: 'This is not your current password.' },
      { field: 'password', detail: 'The password must have at least 8 characters.' },
      { field: 'confirmPassword', detail: 'The passwords did not match.' },
    ])
    const { status, text } = await ada.form(path, wrong)
    assert.equal(status, 400)
    assert.match(text, /<title>Error: Change your password/)
    for (const { field, detail } of json.record.errors as { field: string; detail: string }[]) {
      assert.ok(text.includes(`<a href="#${field}">${detail}</a>`), field)
      assert.match(
        text,
        new RegExp(`id="${field}-error"><span class="visually-hidden">Error: </span>${detail}`),
      )
      assert.match(
        text,
        new RegExp(
          `<input id="${field}"[^>]*aria-describedby="[^"]*${field}-error[^"]*"[^>]*aria-invalid="true"`,
        ),
      )
    }
    for (const typed of Object.values(wrong)) assert.ok(!text.includes(`"${typed}"`))
    assert.deepEqual(await dump(site), before)
    assert.equal((await ada.get('/me')).status, 200)
  })

  test('B7 applies the password rules of sign-up', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const before = await dump(site)
    for (const each of ['password123', 'ada@example.com', 'Ada-1234']) {
      const { status, record } = await ada.json(path, {
        ...change,
        password: each,
        confirmPassword: each,
      })
      const fields = (record.errors as { field: string }[]).map(({ field }) => field)
      assert.deepEqual([status, fields], [400, ['password']], each)
    }
    assert.deepEqual(await dump(site), before)
  })

  test('D5 counts a wrong current password as a failed attempt, and over the limit sends pages and JSON with 429 and Retry-After', async (t) => {
    const { ada, person } = await siteWithAda(t, { THROTTLE: 'on' })
    const wrong = { ...change, currentPassword: 'wrong canary' }
    for (let i = 0; i < 5; i += 1) {
      assert.equal((await ada.json(path, wrong)).status, 400)
      assert.equal((await ada.form(path, wrong)).status, 400)
    }
    const json = await ada.json(path, change)
    assert.equal(json.status, 429)
    assert.match(json.headers['retry-after'] ?? '', /^\d+$/)
    const form = await ada.form(path, change)
    assert.equal(form.status, 429)
    assert.match(form.headers['retry-after'] ?? '', /^\d+$/)
    assert.match(
      form.text,
      /role="alert"[\s\S]*<p>Too many attempts for this account from your network or device\. Try again in 15 minutes, at \d\d:\d\d UTC\.<\/p>/,
    )
    assert.doesNotMatch(form.text, /aria-invalid="true"/)
    // Sign-in shares this limit. The session stays valid.
    assert.equal((await ada.form('/login', { username: person.email, password })).status, 429)
    assert.equal((await ada.get('/me')).status, 200)
  })

  test('does not count an empty current password as a failed attempt', async (t) => {
    const { ada } = await siteWithAda(t, { THROTTLE: 'on' })
    for (let i = 0; i < 12; i += 1) {
      const { status, record } = await ada.json(path, { ...change, currentPassword: '' })
      assert.deepEqual(
        [status, record.errors],
        [400, [{ field: 'currentPassword', detail: 'Enter your current password.' }]],
      )
    }
    assert.equal((await ada.json(path, change)).status, 200)
  })

  test('M5 succeeds once in ten concurrent requests, and the others get no 5xx', async (t) => {
    const { site, person } = await siteWithAda(t)
    const visitors = await Promise.all(Array.from({ length: 10 }, () => signIn(site, person)))
    const passwords = visitors.map((_, i) => `${newPassword} ${i}`)
    const answers = await Promise.all(
      visitors.map((visitor, i) =>
        visitor.json(path, { ...change, password: passwords[i], confirmPassword: passwords[i] }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 1, `${statuses}`)
    for (const status of statuses) assert.ok([200, 400, 401, 409].includes(status), `${status}`)
    const winner = statuses.indexOf(200)
    assert.equal((await visitors[winner]?.get('/me'))?.status, 200)
    const login = await site.visitor().post('/login?as=user', basic(person, passwords[winner]))
    assert.equal(login.status, 200)
    assert.equal(await count(site, 'sessions'), 1)
  })

  test('changes nothing if the tokens cannot be deleted', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    await signIn(site, person)
    const token = await takeToken(site, person)
    const before = await dump(site)
    const show = await hide(site, 'user_tokens')
    assert.equal((await ada.json(path, change)).status, 503)
    assert.equal((await ada.form(path, change)).status, 503)
    await show()
    assert.deepEqual(await dump(site), before)
    assert.equal((await ada.get('/me')).status, 200)
    assert.equal((await site.visitor().get('/me', bearer(token))).status, 200)
  })
})

/** A site with Ada signed in, and a second password that must not appear in a response or log. */
async function siteWithAda(t: TestContext, environment: Record<string, string> = {}) {
  const site: Site = await startSite(t, environment)
  site.secrets.add(newPassword)
  const person: Person = await signUp(site)
  return { site, person, ada: await signIn(site, person) }
}
