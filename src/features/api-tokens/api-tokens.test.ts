import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import { count, dump, sql } from '../../testing/database.ts'
import { lockDatabase } from '../../testing/lock-database.ts'
import { basic, bearer, password, signIn, signUp, takeToken } from '../../testing/people.ts'
import type { Answer } from '../../testing/promises.ts'
import { receiveMail, receiveMails } from '../../testing/receive-mails.ts'
import { ageSessions } from '../../testing/second-factor.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'
import { isOnPostgres } from '../../testing/test-database.ts'
import type { Visitor } from '../../testing/visitor.ts'
import { issueToken, UserToken } from '../../users/user-token.ts'

const day = 24 * 60 * 60_000
const html = { accept: 'text/html' }
const path = '/account/tokens'
const form = /^kauth_[\w-]{49}$/

describe('POST /account/tokens as JSON', () => {
  test('M1 creates an API token that is valid until it expires, and shows its value once', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const before = Date.now()
    const { status, headers, record } = await ada.json(path, { name: ' Backup ', days: 7 })
    assert.equal(status, 201)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.deepEqual(Object.keys(record), ['id', 'name', 'value', 'expiresAt'])
    assert.equal(record.name, 'Backup')
    assert.match(String(record.value), form)
    assertDaysAfter(before, record.expiresAt, 7)
    const program = site.visitor()
    const token = bearer(String(record.value))
    assert.equal((await program.get('/me', token)).record.id, person.id)
    // Each visitor asserts that no other response contains the value.
    assert.ok(!(await ada.get(path)).text.includes(String(record.value)))
    await sql(site, 'update user_tokens set expires_at = ?', [Date.now()])
    assert.equal((await program.get('/me', token)).status, 401)
  })

  test('M4 creates a token for 30 days by default, or for 1 to 365 days', async (t) => {
    const { ada } = await siteWithAda(t)
    for (const days of [undefined, 1, 30, 365]) {
      const before = Date.now()
      const { status, record } = await ada.json(path, { name: 'x', days })
      assert.equal(status, 201)
      assertDaysAfter(before, record.expiresAt, days ?? 30)
    }
  })

  test('rejects an invalid name or number of days, reports each invalid field, and creates nothing', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const names = ['', '  ', 'n'.repeat(101), 'a\nb', '\u0000', '\u202e', '\ud800', null, 1, ['x'], { a: 1 }]
    for (const name of [...names, undefined]) {
      const { status, record } = await ada.json(path, { name, days: 30 })
      assert.deepEqual([status, fieldsOf(record)], [400, ['name']], JSON.stringify(name))
    }
    for (const days of [0, -1, 366, 1.5, 1e9, '30', '', null, true, [30], {}]) {
      const { status, record } = await ada.json(path, { name: 'x', days })
      assert.deepEqual([status, fieldsOf(record)], [400, ['days']], JSON.stringify(days))
    }
    const both = await ada.json(path, { days: 0 })
    assert.deepEqual([both.status, fieldsOf(both.record)], [400, ['name', 'days']])
    assert.equal(await count(site, 'user_tokens'), 0)
  })

  test('M2 returns a token with 256 random bits, and stores its SHA-256 instead of these bits', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const values = new Set<string>()
    for (let i = 0; i < 10; i += 1) values.add(String((await ada.json(path, { name: 'x' })).record.value))
    values.add(await createByPage(ada))
    assert.equal(values.size, 11)
    const stored = JSON.stringify(await dump(site))
    for (const value of values) {
      const random = value.slice(6, 49)
      assert.equal(Buffer.from(random, 'base64url').length, 32)
      assert.ok(stored.includes(hash('sha256', value, 'base64url')))
      assert.ok(!stored.includes(random), 'the database does not contain the token')
    }
  })
})

describe('POST /account/tokens as a form', () => {
  test('E16 redirects to the page that shows the token once, and a reload does not show it again and creates no other token', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const before = Date.now()
    const { status, headers, text } = await ada.form(path, { name: 'Backup', days: '90' })
    assert.deepEqual([status, headers.location], [303, path])
    assert.ok(!text.includes('kauth_'))
    const page = await ada.page(path)
    const [value = assert.fail()] = /kauth_[\w-]{49}/.exec(page.text) ?? []
    assert.match(page.text, new RegExp(`<textarea id="value"[^>]* readonly[^>]*>${value}</textarea>`))
    assert.match(page.text, /<label for="value">/)
    assert.equal((await site.visitor().get('/me', bearer(value))).record.id, person.id)
    assert.ok(!(await ada.page(path)).text.includes('kauth_'))
    const [row, ...more] = await sql(site, 'select name, expires_at from user_tokens')
    assert.deepEqual([row?.name, more], ['Backup', []])
    assertDaysAfter(before, Number(row?.expires_at), 90)
  })

  test('F1 passes a token in an HttpOnly cookie for one minute, with the __Host- prefix over TLS', async (t) => {
    const { ada } = await siteWithAda(t)
    const { cookies } = await ada.form(path, { name: 'x', days: '7' })
    assert.match(
      cookies.find((each) => each.startsWith('new-token=')) ?? '',
      /^new-token=kauth_[\w-]{49}; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const { ada: overTls } = await siteWithAda(t, { PUBLIC_URL: 'https://example.com' })
    const answer = await overTls.form(path, { name: 'x', days: '7' })
    assert.match(
      answer.cookies.find((each) => each.includes('new-token=')) ?? '',
      /^__Host-new-token=kauth_[\w-]{49}; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
    assert.match((await overTls.page(path)).text, /kauth_/)
  })

  test('shows a token only to its owner, and only until it is deleted', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const shows = async (visitor: Visitor, cookie: string) => {
      visitor.cookies.set('new-token', cookie)
      const { text, status } = await visitor.page(path)
      assert.equal(status, 200)
      return text.includes('kauth_')
    }
    await ada.form(path, { name: 'x', days: '7' })
    const cookie = ada.cookies.get('new-token') ?? assert.fail()
    assert.equal(await shows(bob, cookie), false)
    assert.equal(bob.cookies.has('new-token'), false, 'the cookie is cleared')
    for (const odd of ['', 'x', 'x'.repeat(43), '_'.repeat(43), '%00', `${cookie}x`])
      assert.equal(await shows(ada, odd), false, odd)
    assert.equal((await site.visitor().get('/me', { cookie: `new-token=${cookie}` })).status, 401)
    await sql(site, 'delete from user_tokens')
    assert.equal(await shows(ada, cookie), false)
  })

  test('shows the form again with the errors and the typed values', async (t) => {
    const { site, ada } = await siteWithAda(t)
    for (const [fields, typed, sentence] of [
      [{ name: '', days: '90' }, '', 'Enter a name.'],
      [{ name: 'a\u0007<b>', days: '7' }, 'a\u0007&lt;b&gt;', 'cannot be printed'],
      [{ name: 'Backup', days: '0' }, 'Backup', '`days` must be a whole number from 1 to 365.'],
      [{ name: 'Backup', days: 'x' }, 'Backup', '`days` must be a whole number from 1 to 365.'],
    ] as const) {
      const { status, text } = await ada.form(path, fields)
      assert.equal(status, 400)
      assert.match(text, /<title>Error: API tokens &ndash; /)
      assert.match(text, /id="error-summary" role="alert"/)
      assert.ok(text.includes(sentence))
      assert.ok(text.includes(`value="${typed}"`), typed)
      assert.match(text, /<a href="#(name|days)">/)
    }
    assert.match((await ada.form(path, { name: '', days: '90' })).text, /<option value="90" selected>/)
    const twice = await ada.send(
      'POST',
      path,
      { 'content-type': 'application/x-www-form-urlencoded' },
      'name=a&name=b&days=7&days=8',
    )
    assert.equal(twice.status, 400)
    assert.equal(await count(site, 'user_tokens'), 0)
  })

  test('M5 creates no token if the session ends, the password changes or the account is disabled before the token is written', async (t) => {
    const { site, person } = await siteWithAda(t)
    const endings = [
      'delete from sessions',
      'update users set credentials_version = credentials_version + 1',
      'update users set disabled_at = 1',
    ]
    for (const ending of endings) {
      await sql(site, 'update users set disabled_at = null')
      const visitor = await signIn(site, person)
      const other = await lockDatabase(t, site)
      const response = visitor.form(path, { name: 'Backup', days: '365' })
      await other.waitForStatement(isOnPostgres ? / from `users` .* for update/ : / join `users` /)
      await other.release(ending)
      assert.equal((await response).status, 409, ending)
      assert.equal(await count(site, 'user_tokens'), 0, ending)
    }
  })

  test('T14 needs a confirmation, which keeps the values of the form', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await ageSessions(site)
    assert.equal((await ada.json('/account/tokens', { name: 'CI' })).record.code, 'confirmation_required')
    const { headers } = await ada.form('/account/tokens', { name: 'CI', days: '7' })
    const { location = assert.fail() } = headers
    assert.equal(location, `/confirm?next=${encodeURIComponent('/account/tokens?name=CI&days=7')}`)
    const { text } = await ada.page(location)
    assert.match(text, /Before you create an API token, confirm that it is you/)
    const page = await ada.page('/account/tokens?name=CI&days=7')
    assert.doesNotMatch(page.text, /name="days"/)
    await ada.form('/confirm', { password })
    const again = await ada.page('/account/tokens?name=CI&days=7')
    assert.match(again.text, /<details open>[\s\S]*value="CI"[\s\S]*<option value="7" selected>/)
  })
})

describe('a new token', () => {
  test('of a session sends a notice to a verified address', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await sql(site, 'update users set email_verified_at = 1')
    await receiveMails(site)
    await ada.json(path, { name: 'CI' })
    const { subject, text } = await receiveMail(site)
    assert.equal(subject, 'An API token was created at koa-authenticators')
    assert.match(text, /It works without your password until it expires/)
  })
})

describe('GET /account/tokens', () => {
  test('returns the name, the creation, the last use and the expiry of each token, newest first', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const before = Date.now()
    const first = await ada.json(path, { name: 'First', days: 1 })
    const second = await ada.json(path, { name: 'Second', days: 2 })
    await takeToken(site, person)
    await takeToken(site, await signUp(site, 'Bob'))
    const { status, text } = await ada.get(path)
    assert.equal(status, 200)
    const listed = JSON.parse(text)
    assert.deepEqual(
      listed.map(({ name }: { name: string }) => name),
      ['From signing in', 'Second', 'First'],
    )
    const { createdAt, ...others } = listed[2]
    assert.deepEqual(others, {
      id: first.record.id,
      name: 'First',
      tail: String(first.record.value).slice(-4),
      lastUsedAt: null,
      expiresAt: first.record.expiresAt,
    })
    assert.ok(Date.parse(createdAt) >= before && Date.parse(createdAt) <= Date.now())
    await site.visitor().get('/me', bearer(String(second.record.value)))
    const used = JSON.parse((await ada.get(path)).text)[1]
    assert.ok(Date.parse(used.lastUsedAt) >= before && Date.parse(used.lastUsedAt) <= Date.now())
    const byPassword = await site.visitor().get(path, basic(person))
    assert.equal(byPassword.text, (await ada.get(path)).text)
  })

  test('omits expired tokens', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await ada.json(path, { name: 'Old' })
    await sql(site, 'update user_tokens set expires_at = ?', [Date.now()])
    await ada.json(path, { name: 'New' })
    assert.equal(JSON.parse((await ada.get(path)).text).length, 1)
    assert.ok(!(await ada.page(path)).text.includes('Old'))
  })

  test('shows, on the page, the last characters and a revoke button of each token, and a form with four lifetimes', async (t) => {
    const { ada } = await siteWithAda(t)
    assert.match((await ada.page(path)).text, /No API tokens/)
    const { record } = await ada.json(path, { name: 'Backup' })
    const { text } = await ada.page(path)
    const [, tail] = /(.{4})$/.exec(String(record.value)) ?? []
    assert.match(text, new RegExp(`<bdi>Backup</bdi>.*Ends in <code>${tail}</code>.*Never used`, 's'))
    assert.doesNotMatch(text, /Expires soon/)
    await ada.json(path, { name: 'CI', days: 6 })
    assert.match((await ada.page(path)).text, /<bdi>CI<\/bdi> <span class="badge warning">Expires soon</)
    assert.ok(text.includes(`<form method="post" action="${path}/${record.id}/revoke" `))
    const choices = [...text.matchAll(/<option value="(\d+)"( selected)?>/g)]
    assert.deepEqual(
      choices.map(([, days, checked]) => `${days}${checked ?? ''}`),
      ['7', '30 selected', '90', '365'],
    )
    assert.match(text, /<form method="post" action="\/logout">/)
  })

  test('returns a hundred tokens at a time, with a link to older ones', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const em = site.orm.em.fork()
    for (let i = 0; i < 250; i += 1) {
      const { value, expiresAt } = issueToken()
      em.create(UserToken, { name: `Token ${i}`, value, user: person.id, expiresAt })
    }
    await em.flush()
    const names: string[] = []
    let next: string | undefined = path
    for (let pages = 1; next; pages += 1) {
      assert.ok(pages <= 3)
      const { text, headers }: Answer = await ada.get(next)
      names.push(...JSON.parse(text).map(({ name }: { name: string }) => name))
      const page = await ada.page(next)
      next = /^<([^>]+)>; rel="next"$/.exec(String(headers.link))?.[1]
      assert.equal(page.text.includes('Older tokens'), next !== undefined)
    }
    assert.deepEqual(
      names,
      Array.from({ length: 250 }, (_, i) => `Token ${249 - i}`),
    )
    for (const odd of ['before=x', 'before=', 'before=1&before=2', 'before[$ne]=x', 'before=%00'])
      assert.equal(JSON.parse((await ada.get(`${path}?${odd}`)).text).length, 100, odd)
  })
})

describe('POST /account/tokens/:id/revoke', () => {
  test('M4 ends this token immediately, and no other', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const [one, other] = [await ada.json(path, { name: 'One' }), await ada.json(path, { name: 'Other' })]
    const { status, text } = await ada.post(`${path}/${one.record.id}/revoke`)
    assert.deepEqual([status, text], [204, ''])
    const use = async ({ record }: typeof one) =>
      (await site.visitor().get('/me', bearer(String(record.value)))).status
    assert.deepEqual([await use(one), await use(other)], [401, 200])
  })

  test('redirects a form back to the page, which shows the notice of the revocation once', async (t) => {
    const { ada } = await siteWithAda(t)
    const { record } = await ada.json(path, { name: '<i>CI' })
    const answer = await ada.form(`${path}/${record.id}/revoke`, {}, html)
    assert.deepEqual([answer.status, answer.headers.location], [303, path])
    assert.match((await ada.page(path)).text, /The token “&lt;i&gt;CI” has been revoked\./)
    assert.ok(!(await ada.page(path)).text.includes('has been revoked'))
  })

  test("C6 sends the same response for another user's token, a revoked token, an unknown id and an invalid id", async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const bobs = await takeToken(site, await signUp(site, 'Bob'))
    const [row] = await sql(site, 'select id from user_tokens')
    const { record } = await ada.json(path, { name: 'x' })
    assert.equal((await ada.post(`${path}/${record.id}/revoke`)).status, 204)
    const before = await dump(site)
    const ids = [row?.id, record.id, '01932c07-209f-7000-8000-000000000000', 'x', '%00', '%ff', '__proto__']
    for (const format of [{}, html, basic(person)]) {
      const answers = []
      for (const id of ids) {
        const { status, headers, challenges, cookies, text } = await ada.post(`${path}/${id}/revoke`, format)
        const { date, ...others } = headers
        answers.push({ status, headers: others, challenges, cookies, text })
      }
      assert.equal(answers[0]?.status, 404)
      for (const [i, answer] of answers.entries()) assert.deepEqual(answer, answers[0], String(ids[i]))
    }
    assert.deepEqual(await dump(site), before)
    assert.equal((await site.visitor().get('/me', bearer(bobs))).status, 200)
  })
})

async function createByPage(visitor: Visitor): Promise<string> {
  await visitor.form(path, { name: 'x', days: '30' })
  return /kauth_[\w-]{49}/.exec((await visitor.page(path)).text)?.[0] ?? assert.fail()
}

function assertDaysAfter(start: number, end: unknown, days: number): void {
  const length = (typeof end === 'number' ? end : Date.parse(String(end))) - start
  assert.ok(length >= days * day && length < days * day + 60_000, `${length / day} days`)
}

function fieldsOf(record: Record<string, unknown>): string[] {
  return (record.errors as { field: string }[]).map(({ field }) => field)
}
