import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { dumpAll } from '../testing/dump.ts'
import {
  bearer,
  type Person,
  password,
  registration,
  signIn,
  signUp,
  takeJWT,
  takeResetToken,
} from '../testing/people.ts'
import { providerSite } from '../testing/provider-site.ts'
import { routes } from '../testing/routes.ts'
import type { Site } from '../testing/site.ts'
import type { Visitor } from '../testing/visitor.ts'

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const html = { accept: 'text/html' }
const newPassword = 'eight wise canaries 1816'

/** Routes that read fields, each with a well-formed body. */
const fields: Record<string, Record<string, string>> = {
  '/users': { name: 'Eve', email: 'eve@example.com', password, confirmPassword: password },
  '/login': { username: 'ada@example.com', password },
  '/forgot': { email: 'ada@example.com' },
  // The test adds the token of Ada's link.
  '/reset': { token: '', password: newPassword, confirmPassword: newPassword },
  '/verify': { token: 'x' },
  '/account/name': { name: 'Ada King' },
  '/account/theme': { theme: 'dark' },
  '/account/tokens': { name: 'backup', days: '30' },
  '/account/password': { currentPassword: password, password: newPassword, confirmPassword: newPassword },
  '/account/email': { email: 'ada@example.org', password },
  '/confirm': { password },
  '/account/security/totp/confirm': { code: '000000' },
  '/account/close': { password, confirm: 'on' },
}

/**
 * The routes to which these tests send no valid fields: routes without fields, and the routes of passkeys, providers and pending sign-ins, which
 * have their own tests.
 */
const fieldless = [
  '/login/code',
  '/login/passkey',
  '/account/passkeys',
  '000000000000/name',
  '/with/company',
  '/signup/with',
  '/logout',
  '/validateLoggedInUser',
  '/end',
  '/end-others',
  '/revoke',
  '/cancel',
  '/account/verification',
  '/account/security/totp',
  '/remove',
  '/recovery-codes',
  '/account/data',
]

// `days` has a default. A JSON request with the password needs no `confirm`.
const optional = new Set([
  'JSON /account/close confirm',
  'JSON /account/tokens days',
  'form /account/tokens days',
])

// In a fresh session, these fields may be missing.
const replaceable = new Set(['/account/email password', '/account/close password'])

const notText: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  [],
  ['x'],
  [['x']],
  {},
  { $ne: '' },
  { toString: 'x' },
  [{ x: 1 }],
]

const paths = routes.filter(({ method }) => method === 'POST').map(({ path }) => path)

async function siteWithAda(t: TestContext): Promise<{ site: Site; person: Person; ada: Visitor }> {
  const { site } = await providerSite(t)
  site.secrets.add(newPassword)
  const person = await signUp(site)
  return { site, person, ada: await signIn(site, person) }
}

describe('routes', () => {
  test('K2 with POST are all in `fields` or `fieldless`', () => {
    const unknown = paths.filter((path) => !fields[path] && !fieldless.some((end) => path.endsWith(end)))
    assert.deepEqual(unknown, [])
    assert.ok(paths.length >= 11)
  })

  test('K2 reject a field that is missing, repeated or not a string, in JSON and in a form, and change nothing', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const reset = { '/reset': { ...fields['/reset'], token: await takeResetToken(site, person) } }
    const accepted: typeof fields = { ...fields, ...reset }
    await ada.json('/account/security/totp', {})
    const before = await dumpAll(site)
    let requestCount = 0
    const refused = async (what: string, answer: ReturnType<Visitor['json']>) => {
      const { status, cookies } = await answer
      assert.ok([400, 401, 410].includes(status), `${what}: ${status}`)
      assert.deepEqual(cookies, [], what)
      requestCount += 1
    }
    for (const [path, good] of Object.entries(accepted)) {
      for (const field of Object.keys(good)) {
        const { [field]: value = '', ...rest } = good
        if (!optional.has(`JSON ${path} ${field}`)) {
          for (const shape of notText)
            await refused(
              `JSON ${path} ${field} ${JSON.stringify(shape)}`,
              ada.json(path, { ...rest, [field]: shape }),
            )
          if (!replaceable.has(`${path} ${field}`))
            await refused(`JSON ${path} without ${field}`, ada.json(path, rest))
          const twice = JSON.stringify(good).replace('{', `{${JSON.stringify(field)}:"x",`)
          await refused(`JSON ${path} ${field} twice`, ada.send('POST', path, json, twice))
        }
        if (optional.has(`form ${path} ${field}`)) continue
        const pair = (name: string) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
        const others = new URLSearchParams(rest).toString()
        const shapes = [
          ...[
            `${pair(field)}&${pair(field)}`,
            pair(`${field}[]`),
            pair(`${field}[a]`),
            pair(`${field}[$ne]`),
          ],
          ...[`${pair(`${field}[0]`)}&${pair(`${field}[1]`)}`, pair(`__proto__[${field}]`), `${field}=`],
          ...(replaceable.has(`${path} ${field}`) ? [] : ['']),
        ]
        for (const shape of shapes)
          await refused(`form ${path} ${shape}`, ada.send('POST', path, form, `${others}&${shape}`))
      }
    }
    assert.ok(requestCount > 250, `${requestCount} requests`)
    assert.deepEqual(await dumpAll(site), before)
    assert.equal((await ada.get('/me')).status, 200)
  })

  test('G5 K1 respond with 400, 413 or 415 to a malformed, too large or unsupported body', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const jwt = bearer(await takeJWT(site, person))
    const before = await dumpAll(site)
    for (const path of paths) {
      for (const format of path === '/validateLoggedInUser' ? [jwt] : [{}, html]) {
        const statuses = [
          (await ada.send('POST', path, { ...json, ...format }, '{')).status,
          (await ada.send('POST', path, { ...form, ...format }, 'name=%FF')).status,
          (await ada.send('POST', path, { ...form, ...format }, 'x'.repeat(20_000))).status,
          (await ada.send('POST', path, { 'content-type': 'text/plain', ...format }, '{}')).status,
        ]
        assert.deepEqual(statuses, [400, 400, 413, 415], path)
      }
    }
    assert.deepEqual(await dumpAll(site), before)
  })

  test('K5 for sign-up, the name and tokens ignore unknown fields, and set no other columns (mass assignment)', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const extra = {
      ...{
        id: '00000000-0000-7000-8000-000000000000',
        _id: 1,
        userId: 1,
        user: 'x',
        user_id: 'x',
        role: 'admin',
      },
      ...{ isAdmin: true, admin: 1, passwordHash: 'x', password_hash: 'x', emailKey: 'x', email_key: 'x' },
      ...{ disabledAt: 1, disabled_at: 1, createdAt: 1, passwordChangedAt: 1, expiresAt: 9e15, value: 'x' },
    }
    assert.equal((await ada.json('/users', { ...registration('Bob'), ...extra })).status, 201)
    const { email: _, ...noEmail } = registration('x')
    assert.equal((await ada.json('/account/name', { ...extra, ...noEmail, name: 'Ada King' })).status, 200)
    const token = await ada.json('/account/tokens', { ...extra, name: 'backup', days: 1 })
    assert.equal(token.status, 201)
    const { users = [], user_tokens: tokens = [] } = await dumpAll(site)
    assert.deepEqual(
      users.map(({ name, email, email_key, disabled_at }) => [name, email, email_key, disabled_at]),
      [
        ['Ada King', 'ada@example.com', 'ada@example.com', null],
        ['Bob', 'bob@example.com', 'bob@example.com', null],
      ],
    )
    for (const { id, password_hash, created_at } of users) {
      assert.notEqual(id, extra.id)
      assert.match(String(password_hash), /^\$2b\$/)
      assert.ok(Number(created_at) > 1e12)
    }
    const [row] = tokens
    assert.deepEqual([row?.user_id, row?.name], [users[0]?.id, 'backup'])
    assert.notEqual(row?.value, 'x')
    assert.ok(Number(row?.expires_at) < Date.now() + 2 * 86_400_000)
  })

  test('K4 allow no prototype pollution by JSON, form or query', async (t) => {
    const { ada } = await siteWithAda(t)
    const objects = [
      '{"__proto__":{"polluted":1}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"a":{"__proto__":{"polluted":1}}}',
    ]
    const forms = [
      '__proto__[polluted]=1',
      '__proto__.polluted=1',
      'constructor[prototype][polluted]=1',
      'a[__proto__][polluted]=1',
      '__proto__=x&polluted=1',
    ]
    for (const { method, path } of routes) {
      await ada.send(method, `${path}?${forms.join('&')}`, method === 'POST' ? json : {}, '')
      if (method === 'GET') continue
      for (const content of objects) await ada.send('POST', path, json, content)
      for (const content of forms) await ada.send('POST', path, form, content)
      assert.equal(({} as { polluted?: unknown }).polluted, undefined, path)
    }
  })

  test('K10 still respond after 3,000 parameters, a body of one-byte chunks and 200 aborted uploads', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const many = Array.from({ length: 3000 }, (_, i) => `a${i}`).join('&')
    const manyMembers = JSON.stringify(
      Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`a${i}`, 1])),
    )
    for (const path of ['/login', '/users']) {
      assert.ok((await site.visitor().send('POST', path, form, many)).status < 500)
      assert.ok((await site.visitor().send('POST', path, json, manyMembers)).status < 500)
    }
    const slow = site.visitor().open('POST', '/login', { ...json, 'transfer-encoding': 'chunked' })
    const body = JSON.stringify({ username: 'ada@example.com', password })
    for (const byte of body) slow.write(byte)
    assert.equal((await slow.end()).status, 200)
    const before = await dumpAll(site)
    const head =
      'POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n'
    for (let i = 0; i < 200; i += 1) {
      const socket = connect(Number(new URL(site.url).port), '127.0.0.1')
      await once(socket, 'connect')
      socket.write(`${head}{"username":`)
      socket.resetAndDestroy()
    }
    assert.deepEqual(await dumpAll(site), before)
    assert.equal((await ada.get('/me')).status, 200)
  })
})
