import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { count, dump, sql } from '../../testing/database.ts'
import { password, registration, signUp } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'
import { verifyPassword } from '../../users/password.ts'

const uuid7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe('POST /users as JSON', () => {
  test('S52 S90 responds with 201 and a user record of id, name and email only', async (t) => {
    const site = await startSite(t)
    const { status, headers, record, cookies } = await site.visitor().json('/users', registration('Ada'))
    assert.equal(status, 201)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.deepEqual(Object.keys(record), ['id', 'name', 'email'])
    assert.deepEqual([record.name, record.email], ['Ada', 'ada@example.com'])
    assert.match(String(record.id), uuid7)
    assert.deepEqual(cookies, [], 'the API starts no session')
  })

  test('S28 S51 S72 stores only the hash of the password', async (t) => {
    const site = await startSite(t)
    await signUp(site)
    const [row] = await sql(site, 'select * from users')
    assert.match(String(row?.password_hash), /^\$2b\$04\$/)
    assert.ok(await verifyPassword(password, String(row?.password_hash)))
    assert.ok(!JSON.stringify(await dump(site)).includes(password))
  })

  test('S51 reports all invalid fields together with 400', async (t) => {
    const site = await startSite(t)
    const { status, record } = await site.visitor().json('/users', {
      name: ' ',
      email: 'ada',
      password: 'short',
      confirmPassword: 'other',
    })
    assert.equal(status, 400)
    assert.deepEqual(
      (record.errors as { field: string }[]).map(({ field }) => field),
      ['name', 'email', 'password', 'confirmPassword'],
    )
    assert.equal(await count(site, 'users'), 0)
  })

  test('K6 S33 S34 S35 rejects an empty name, an invalid address and a password of fewer than 8 characters, and names the field', async (t) => {
    const site = await startSite(t)
    const refused: [object, string][] = [
      [{ name: '' }, 'name'],
      [{ name: '   ' }, 'name'],
      [{ name: 'n'.repeat(101) }, 'name'],
      [{ name: 'A\nB' }, 'name'],
      [{ name: 'A\0B' }, 'name'],
      [{ name: '\u001b[31mred' }, 'name'],
      [{ email: 'ada.example.com' }, 'email'],
      [{ email: 'ada@localhost' }, 'email'],
      [{ email: 'ada\0@example.com' }, 'email'],
      [{ email: `${'a'.repeat(250)}@b.co` }, 'email'],
      [{ email: 'ädä@example.com' }, 'email'],
      [{ email: ' ada@example.com' }, 'email'],
      [{ password: 'sevench', confirmPassword: 'sevench' }, 'password'],
      [{ password: '🙂'.repeat(7), confirmPassword: '🙂'.repeat(7) }, 'password'],
      [{ password: 'x'.repeat(1025), confirmPassword: 'x'.repeat(1025) }, 'password'],
      [{ password: 'password1', confirmPassword: 'password1' }, 'password'],
    ]
    for (const [changes, field] of refused) {
      const { status, record } = await site.visitor().json('/users', registration('Ada', changes))
      const errors = record.errors as { field: string; detail: string }[]
      assert.deepEqual([status, errors.map((each) => each.field)], [400, [field]], JSON.stringify(changes))
      assert.match(errors[0]?.detail ?? '', /^[A-Z].+\.$/)
    }
    assert.equal(await count(site, 'users'), 0)
  })

  test('S36 S51 S53 rejects two different passwords with 400 and the reason', async (t) => {
    const site = await startSite(t)
    const { status, record } = await site
      .visitor()
      .json('/users', registration('Ada', { confirmPassword: `${password} ` }))
    assert.equal(status, 400)
    assert.equal(record.detail, 'The passwords did not match.')
    assert.deepEqual(record.errors, [{ field: 'confirmPassword', detail: 'The passwords did not match.' }])
    assert.equal(await count(site, 'users'), 0)
  })

  test('rejects the address of another account with 409, in any letter case', async (t) => {
    const site = await startSite(t)
    await signUp(site)
    for (const email of ['ada@example.com', 'ADA@example.com', 'Ada@Example.Com']) {
      const { status, record } = await site.visitor().json('/users', registration('Eve', { email }))
      assert.equal(status, 409, email)
      assert.deepEqual(record.errors, [
        { field: 'email', detail: 'There is already an account with this e-mail address.' },
      ])
    }
    assert.equal(await count(site, 'users'), 1)
  })

  test('rejects the address of a disabled account with 409', async (t) => {
    const site = await startSite(t)
    await signUp(site)
    await sql(site, 'update users set disabled_at = 1')
    assert.equal((await site.visitor().json('/users', registration('Ada'))).status, 409)
  })

  test('S35 accepts a name of 100 code points after trimming, and a password of 8 code points or 1,024 bytes', async (t) => {
    const site = await startSite(t)
    const longest = `${'words of a song, '.repeat(60)}1024`
    assert.equal(Buffer.byteLength(longest), 1024)
    const valid: Record<string, unknown>[] = [
      registration('A', { name: `  ${'🙂'.repeat(100)} ` }),
      registration('B', { password: 'ω🙂kauzβγ', confirmPassword: 'ω🙂kauzβγ' }),
      registration('C', { password: longest, confirmPassword: longest }),
      registration('D', { password: `${' '.repeat(7)}x`, confirmPassword: `${' '.repeat(7)}x` }),
    ]
    for (const each of valid) {
      const { status, text, record } = await site.visitor().json('/users', each)
      assert.equal(status, 201, text)
      assert.equal(record.name, String(each.name).trim())
      const login = await site.visitor().json('/login', { username: each.email, password: each.password })
      assert.equal(login.status, 200, String(each.email))
    }
  })

  test('does not replace the session of a signed-in user', async (t) => {
    const { ada } = await siteWithAda(t)
    const { status, cookies } = await ada.json('/users', registration('Bob'))
    assert.deepEqual([status, cookies], [201, []])
    assert.equal((await ada.get('/me')).record.name, 'Ada')
  })

  test('K8 creates one account from 20 concurrent sign-ups with one e-mail address', async (t) => {
    const site = await startSite(t)
    const all = Array.from({ length: 20 }, (_, i) =>
      site
        .visitor()
        .json(
          '/users',
          registration('Ada', { name: `Ada ${i}`, email: i % 2 ? 'ada@example.com' : 'ADA@example.com' }),
        ),
    )
    const answers = await Promise.all(all)
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(19).fill(409)])
    for (const { status, record } of answers)
      if (status === 409) assert.match(JSON.stringify(record.errors), /"field":"email".*already an account/)
    assert.equal(await count(site, 'users'), 1)
  })
})

describe('POST /users as a form', () => {
  test('signs the new user in and redirects to the account with 303', async (t) => {
    const site = await startSite(t)
    const ada = site.visitor()
    const { status, headers, cookies } = await ada.form('/users', fields())
    assert.deepEqual([status, headers.location], [303, '/account'])
    assert.match(cookies.find((each) => each.startsWith('session=')) ?? '', /; Max-Age=86400;/)
    assert.match((await ada.page('/account')).text, /ada@example\.com/)
    assert.equal(await count(site, 'sessions'), 1)
  })

  test('redirects to the requested page on this site, even after an invalid form', async (t) => {
    const site = await startSite(t)
    const next = '/account/sessions?a=1'
    const wrong = await site.visitor().form('/users', { ...fields({ confirmPassword: 'other' }), next })
    assert.match(wrong.text, /<input type="hidden" name="next" value="\/account\/sessions\?a=1">/)
    const { status, headers } = await site.visitor().form('/users', { ...fields(), next })
    assert.deepEqual([status, headers.location], [303, next])
    const bob = { ...fields({ email: 'bob@example.com' }), next: '//evil.example' }
    assert.equal((await site.visitor().form('/users', bob)).headers.location, '/account')
  })

  test('shows the form again with 400, the entered name and e-mail, and a message at each field', async (t) => {
    const site = await startSite(t)
    const wrong = fields({ name: ' ', email: '"><b>', password: 'short7!', confirmPassword: 'other7!' })
    const { status, headers, text } = await site.visitor().form('/users', wrong)
    assert.equal(status, 400)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.match(text, /role="alert"/)
    for (const field of ['name', 'email', 'password', 'confirmPassword']) {
      assert.match(text, new RegExp(`<li><a href="#${field}">`), 'in the summary')
      assert.match(text, new RegExp(`<p class="error" id="${field}-error">`), 'at the field')
    }
    assert.ok(text.includes('value="&quot;&gt;&lt;b&gt;"'), 'the address is kept, and escaped')
    assert.ok(!text.includes('short7!') && !text.includes('other7!'), 'the passwords are not kept')
    const kept = await site.visitor().form('/users', fields({ confirmPassword: 'other' }))
    assert.equal(kept.status, 400)
    assert.match(kept.text, /value="Ada"/)
    assert.match(kept.text, /value="ada@example\.com"/)
    assert.match(kept.text, /<p class="error" id="confirmPassword-error">.*The passwords did not match\./)
  })

  test('shows the form again with 409 for the address of another account', async (t) => {
    const site = await startSite(t)
    await signUp(site)
    const { status, text, cookies } = await site.visitor().form('/users', fields())
    assert.deepEqual([status, cookies], [409, []])
    assert.match(text, /<p class="error" id="email-error">.*There is already an account/)
  })

  test('E3 E18 ends another user’s session in the same browser, and starts a new one', async (t) => {
    const { site, ada: browser } = await siteWithAda(t)
    const old = browser.session
    await browser.form('/users', fields({ name: 'Bob', email: 'bob@example.com' }))
    assert.equal((await browser.get('/me')).record.name, 'Bob')
    assert.notEqual(browser.session, old)
    assert.equal((await site.visitor(old).get('/me')).status, 401)
    assert.equal(await count(site, 'sessions'), 1)
  })

  test('responds like the API if the request has an Authorization header, and starts no session', async (t) => {
    const site = await startSite(t)
    const { status, record, cookies } = await site
      .visitor()
      .form('/users', fields(), { authorization: 'Basic eDp5' })
    assert.deepEqual([status, record.name, cookies], [201, 'Ada', []])
  })
})

function fields(changes: Record<string, string> = {}): Record<string, string> {
  return { name: 'Ada', email: 'ada@example.com', password, confirmPassword: password, ...changes }
}
