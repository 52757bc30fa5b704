import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { count } from '../testing/database.ts'
import { dumpAll } from '../testing/dump.ts'
import { basic, password, registration, signIn, signUp } from '../testing/people.ts'
import { providerSite } from '../testing/provider-site.ts'
import { routes } from '../testing/routes.ts'
import { ageSessions } from '../testing/second-factor.ts'
import { startSite } from '../testing/site.ts'

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const anyUnit = fc.nat(0xffff).map((code) => String.fromCharCode(code))
const anyText = fc.oneof(
  fc.string({ unit: anyUnit, maxLength: 40 }),
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    'ada@example.com',
    'on',
    '30',
    '',
    '\0',
    '\ud800',
    "' or 1=1 --",
    '{"$ne":null}',
    'x'.repeat(2000),
  ),
)
const anyValue = fc.oneof(
  { weight: 3, arbitrary: anyText },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)
const names = [
  ...['name', 'email', 'username', 'password', 'confirmPassword', 'currentPassword', 'code', 'token'],
  ...['days', 'confirm', 'next', 'remember', 'id', '__proto__'],
]
const object = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 8 })), anyValue, {
  maxKeys: 8,
})
const anyBody = fc.oneof(
  object.map((each) => ({ headers: json, content: JSON.stringify(each) })),
  object.map((each) => ({
    headers: form,
    content: Object.entries(each)
      .map((pair) => pair.map((part) => encode(part)).join('='))
      .join('&'),
  })),
  fc
    .tuple(fc.constantFrom(json, form), fc.string({ unit: anyUnit, maxLength: 200 }))
    .map(([headers, content]) => ({
      headers,
      content,
    })),
)
const paths = routes.filter(({ method }) => method === 'POST').map(({ path }) => path)
const anyPath = fc.constantFrom(...paths.filter((each) => each !== '/logout'))
const anyFormat = fc.constantFrom<Record<string, string>>({}, { accept: 'text/html' })

// These tests also run on PostgreSQL, because the databases differ in the text that they accept.
describe('routes', () => {
  // `Visitor` asserts the headers and that no secret leaks.
  test('K1 L3 N7 respond to 1,000 generated bodies without a 5xx, and with the security headers', async (t) => {
    const { site } = await providerSite(t)
    const person = await signUp(site)
    const stale = await signIn(site, person)
    await ageSessions(site)
    const ada = await signIn(site, person)
    await fc.assert(
      fc.asyncProperty(anyPath, anyFormat, anyBody, async (to, extra, { headers, content }) => {
        // A fresh session can close its account without the password.
        const visitor = to === '/account/close' ? stale : ada
        const { status } = await visitor.send('POST', to, { ...headers, ...extra }, content)
        assert.ok(status < 500, `${status}`)
      }),
      { numRuns: 1000 },
    )
    assert.equal((await ada.get('/me')).record.email, 'ada@example.com')
    assert.ok((await count(site, 'users')) >= 1)
  })

  test('K3 treat SQL and operators as plain strings, in fields, headers, cookies and queries', async (t) => {
    const site = await startSite(t)
    await signUp(site)
    const before = await dumpAll(site)
    const hostile = [
      ...[
        "' or 1=1 --",
        "' or '1'='1",
        '" or ""="',
        "admin'--",
        "'; drop table users; --",
        "') or ('1'='1",
        '1;select 1',
      ],
      ...["' union select 1,2,3 --", "'||(select 1)||'", '%', '_', '*', '\\', "\\'", '$ne'],
      ...[
        '{"$ne":null}',
        '[$ne]',
        '$where',
        '1 or 1=1',
        'null',
        'undefined',
        'true',
        '0',
        '-1',
        "x' and sleep(5)#",
      ],
    ]
    const anonymous = site.visitor()
    for (const each of hostile) {
      const text = encodeURIComponent(each)
      const answers = [
        await anonymous.json('/login', { username: each, password: each }),
        await anonymous.form('/login', { username: each, password }),
        await anonymous.json('/login', { username: 'ada@example.com', password: each }),
        await anonymous.post('/login', basic({ email: each }, each)),
        await anonymous.get('/secure', basic({ email: each })),
        await anonymous.get('/me', { authorization: `Bearer ${text}` }),
        await anonymous.get('/me', { cookie: `session=${text}; device=${text}; new-token=${text}` }),
        await anonymous.get(`/me?id=${text}&user=${text}`),
        await anonymous.json('/users', registration('Eve', { email: each })),
      ]
      for (const { status, request } of answers)
        assert.ok(status === 400 || status === 401, `${status} ${request} ${each}`)
      for (const path of ['sessions', 'tokens'])
        assert.equal((await anonymous.post(`/account/${path}/${text}/end`)).status < 500, true, each)
    }
    assert.deepEqual(await dumpAll(site), before)
  })
})

function encode(part: unknown): string {
  const text = typeof part === 'string' ? part : JSON.stringify(part)
  return encodeURIComponent(text.toWellFormed())
}
