import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { rawRequest } from '../auth/testing/raw-request.ts'
import { cutOff, failWrites, sql } from '../testing/database.ts'
import { addAdmin, basic, bearer, takeResetToken } from '../testing/people.ts'
import type { Answer } from '../testing/promises.ts'
import { receiveMails } from '../testing/receive-mails.ts'
import { startServer, temporaryFolder } from '../testing/server-process.ts'
import { type Site, startSite } from '../testing/site.ts'
import { isOnPostgres } from '../testing/test-database.ts'

// Secrets that must not appear in logs or responses. `wrong` may appear in responses, because some requests send it as an address.
const first = 'first canary of nine 1815'
const second = 'second canary, much braver 1843'
const wrong = 'canary in the wrong mine 1852'
const tooLong = `canary too long ${'x'.repeat(1100)}`
const secret = 'canary-of-the-secret-that-signs-every-token'
const account = { name: 'Ada', email: 'ada@example.com' }

/** Sends valid and invalid requests to many routes. Returns the responses. */
async function requestAll(site: Site): Promise<Answer[]> {
  const answers: Answer[] = []
  const keep = async (...responses: Promise<Answer>[]) => {
    for (const each of responses) answers.push(await each)
    return answers.at(-1) as Answer
  }
  const ada = site.visitor()
  const anonymous = site.visitor()
  const credentials = { username: account.email, password: first }
  const registration = { ...account, password: first, confirmPassword: first }

  await keep(ada.form('/users', registration))
  await keep(anonymous.json('/users', { ...registration, name: '', password: wrong }))
  await keep(anonymous.form('/users', { ...registration, password: tooLong, confirmPassword: wrong }))
  await keep(anonymous.json('/users', { ...registration, email: wrong, name: first }))
  await keep(ada.form('/login', { ...credentials, remember: 'on', next: `/account?token=${wrong}` }))
  await keep(anonymous.json('/login', credentials))
  await keep(anonymous.form('/login', { username: wrong, password: first }))
  await keep(anonymous.json('/login', { username: account.email, password: wrong }))
  await keep(anonymous.post('/login', basic(account, wrong)))
  const opaque = String((await keep(anonymous.post('/login', basic(account, first)))).record.value)
  const signed = String((await keep(anonymous.post('/login?as=jwt', basic(account, first)))).record.token)
  await keep(anonymous.post('/login?as=user', basic(account, first)))
  await keep(anonymous.post(`/login?as=${wrong.replaceAll(' ', '+')}`, basic(account, first)))

  for (const token of [opaque, signed, `${opaque}x`, `${signed}x`, signed.slice(0, -3)]) {
    for (const path of ['/me', '/secure', '/account', '/nowhere']) {
      await keep(anonymous.get(path, bearer(token)), anonymous.page(path, bearer(token)))
    }
    await keep(anonymous.post('/validateLoggedInUser', bearer(token)))
    await keep(anonymous.get(`/me?access_token=${token}`), anonymous.get(`/me/${token}`))
    await keep(anonymous.json('/login', { username: token, password: token }))
    await keep(anonymous.get('/', { 'user-agent': 'x', referer: `http://x/${token}` }))
  }
  const grace = await addAdmin(site)
  await keep(anonymous.get('/secure', basic(grace)), anonymous.get('/secure', basic(grace, wrong)))

  for (const path of ['/', '/account', '/account/sessions', '/account/tokens', '/account/activity'])
    await keep(ada.page(path), ada.get(path), ada.page(`${path}?x=${ada.session}`))
  await keep(ada.form('/account/name', { name: 'Ada King' }))
  await keep(ada.form('/account/tokens', { name: 'backup', days: '30' }), ada.page('/account/tokens'))
  await keep(ada.json('/account/tokens', { name: 'backup', days: 1 }))
  await keep(ada.form('/account/email', { email: 'ada@example.org', password: first }), ada.page('/account'))
  await keep(ada.form('/account/email', { email: wrong, password: wrong }))
  await keep(
    ada.form('/account/password', { currentPassword: wrong, password: second, confirmPassword: second }),
  )
  await keep(
    ada.form('/account/password', { currentPassword: first, password: second, confirmPassword: second }),
  )

  const { record: me } = await keep(ada.get('/me'))
  const replaced = await takeResetToken(site, { id: String(me.id) })
  const token = await takeResetToken(site, { id: String(me.id) })
  for (const each of [replaced, token, `${token}x`]) {
    await keep(anonymous.page(`/reset?token=${each}`), anonymous.get(`/reset?token=${each}`))
    await keep(anonymous.post(`/reset?token=${each}`))
    await keep(anonymous.form('/reset', { token: each, password: wrong, confirmPassword: second }))
    await keep(anonymous.json('/reset', { token: each, password: 'short' }))
  }
  const passwords = { password: second, confirmPassword: second }
  await keep(
    anonymous.form('/reset', { token, ...passwords }),
    anonymous.form('/reset', { token, ...passwords }),
  )
  await keep(anonymous.page('/login'), ada.form('/login', { ...credentials, password: second }))
  await keep(ada.form('/account/verification', {}), anonymous.form('/forgot', { email: account.email }))
  for (const { token: link } of await receiveMails(site)) {
    for (const each of [link, `${link}x`]) {
      await keep(anonymous.page(`/verify?token=${each}`), ada.page(`/verify?token=${each}`))
      await keep(anonymous.form('/verify', { token: each }), ada.json('/verify', { token: each }))
    }
    // A secret only from now on, because the page of the link contains the token.
    if (link !== '') site.secrets.add(link)
  }
  // One more link that stays unused, so that the database contains its digest.
  await takeResetToken(site, { id: String(me.id) })

  const json = { 'content-type': 'application/json' }
  const broken = [
    `{"username":"${account.email}","password":"${first}"`,
    `{"password":"${first}","password":"${first}"}`,
    `["${first}"]`,
    `{"username":{"$ne":"${first}"},"password":["${first}"]}`,
    `${'['.repeat(5000)}"${first}"`,
    `"${first.repeat(1000)}"`,
    `"${first}\ud800\u0000"`,
  ]
  for (const body of broken) {
    await keep(anonymous.send('POST', '/login', json, body), anonymous.send('POST', '/users', json, body))
    await keep(ada.send('POST', '/account/password', json, body))
    await keep(anonymous.send('POST', '/login', { 'content-type': 'text/plain' }, body))
    await keep(anonymous.send('POST', '/login', { ...json, 'content-encoding': 'gzip' }, body))
    await keep(anonymous.send('POST', '/login', { ...json, 'content-encoding': 'br' }, gzipSync(body)))
    await keep(anonymous.send('DELETE', '/login', json, body))
    await keep(
      anonymous.send('POST', '/login', { ...json, origin: `https://${first.slice(0, 5)}.example` }, body),
    )
  }
  const port = Number(new URL(site.url).port)
  await rawRequest(
    port,
    [`Authorization: Bearer ${opaque}`, `Authorization: Bearer ${signed}`],
    'GET /me HTTP/1.1',
  )
  await rawRequest(port, [`X: ${first}`, 'Content-Length: x'], 'POST /login HTTP/1.1')

  await keep(ada.form('/logout', {}))
  return answers
}

/** Sends requests while the database fails, because errors of a driver contain statements with values. */
async function requestDuringFailures(site: Site): Promise<Answer[]> {
  const ada = site.visitor()
  await ada.json('/login', { username: account.email, password: second })
  const opaque = String((await ada.post('/login', basic(account, second))).record.value)
  const token = await takeResetToken(site, { id: String((await ada.get('/me')).record.id) })
  const all = async () => [
    await ada.page('/account'),
    await ada.get('/me'),
    await ada.page('/account/activity'),
    await ada.page('/account/tokens'),
    await ada.form('/account/password', { currentPassword: second, password: first, confirmPassword: first }),
    await site.visitor().get('/me', bearer(opaque)),
    await site.visitor().json('/login', { username: account.email, password: second }),
    await site.visitor().form('/login', { username: account.email, password: second }),
    await site.visitor().post('/login', basic(account, second)),
    await site.visitor().json('/users', {
      ...account,
      email: 'bob@example.com',
      password: second,
      confirmPassword: second,
    }),
    await site.visitor().page(`/reset?token=${token}`),
    await site.visitor().form('/reset', { token, password: first, confirmPassword: '' }),
    await ada.form('/logout', {}),
  ]
  const answers: Answer[] = []
  for (const table of [
    'users',
    'sessions',
    'user_tokens',
    'events',
    'attempts',
    'devices',
    'one_time_tokens',
  ]) {
    await sql(site, `alter table ${table} rename to lost`)
    answers.push(...(await all()))
    await sql(site, `alter table lost rename to ${table}`)
    await ada.json('/login', { username: account.email, password: second })
  }
  for (const table of ['users', 'sessions', 'user_tokens', 'events']) {
    const repair = await failWrites(site, 'insert', table)
    answers.push(...(await all()))
    await repair()
    await ada.json('/login', { username: account.email, password: second })
  }
  await cutOff(site)
  answers.push(...(await all()))
  return answers
}

/** A site after all requests, and their responses. */
async function siteAfterRequests(t: TestContext) {
  const site = await startSite(t, { THROTTLE: 'on', JWT_SECRET: secret, LOG_LEVEL: 'trace' })
  const answers = await requestAll(site)
  return { site, answers }
}

/** The bytes of the database on disk, or its rows on PostgreSQL. */
async function stored(site: Site): Promise<Buffer> {
  const tables = [
    'users',
    'admins',
    'user_tokens',
    'sessions',
    'events',
    'attempts',
    'devices',
    'one_time_tokens',
  ]
  if (isOnPostgres) {
    const rows = await Promise.all(tables.map((each) => sql(site, `select * from ${each}`)))
    return Buffer.from(JSON.stringify(rows))
  }
  const file = site.config.databaseUrl.replace('sqlite:', '')
  return Buffer.concat([await readFile(file), await readFile(`${file}-wal`).catch(() => Buffer.alloc(0))])
}

/** The secrets in several encodings: passwords, tokens, cookies, the JWT secret. */
function canaries({ secrets }: Site): string[] {
  const plain = [first, second, wrong, tooLong, secret, ...secrets]
  return plain.flatMap((each) => [
    each,
    encodeURIComponent(each),
    new URLSearchParams({ each }).toString().slice('each='.length),
    Buffer.from(each).toString('base64'),
    Buffer.from(`${account.email}:${each}`).toString('base64'),
    Buffer.from(each).toString('hex'),
    hash('sha1', each),
  ])
}

describe('canaries', () => {
  test('E12 M2 O2 are in the database as hashes only', async (t) => {
    const { site } = await siteAfterRequests(t)
    const bytes = await stored(site)
    for (const canary of canaries(site)) assert.ok(!bytes.includes(canary), canary)
    const found = [...site.secrets].filter((each) => bytes.includes(hash('sha256', each, 'base64url')))
    // An SQLite file still contains deleted rows.
    assert.ok(found.length >= (isOnPostgres ? 1 : 4), 'the database contains digests of cookies and tokens')
    assert.match(bytes.toString('latin1'), /\$2b\$04\$/)
  })

  test('B10 E16 L9 O1 O2 are in no log line. No response has an account password, a stack, a statement or a path', async (t) => {
    const { site, answers } = await siteAfterRequests(t)
    answers.push(...(await requestDuringFailures(site)))
    const log = site.log.join('')
    assert.ok(site.log.length > 200)
    assert.ok(site.secrets.size >= 8, 'cookies, opaque and signed tokens')
    for (const canary of canaries(site)) assert.ok(!log.includes(canary), canary)
    // No SQL and no password hash.
    assert.doesNotMatch(log, /\binsert into|\bselect |\bdelete from|\bupdate \W|\$2[aby]\$|password_?hash/i)
    for (const line of site.log) JSON.parse(line)

    const statuses = new Set(answers.map(({ status }) => status))
    for (const status of [200, 201, 303, 400, 401, 403, 404, 405, 409, 410, 413, 415, 503])
      assert.ok(statuses.has(status), `a response with ${status}`)
    for (const { text, request, headers, status } of answers) {
      const shown = text + JSON.stringify(headers)
      for (const canary of [first, second, tooLong, secret]) assert.ok(!shown.includes(canary), request)
      assert.doesNotMatch(
        text,
        /at [^"]+:\d+:\d+|SQLITE|node_modules|\bselect .+ from\b|insert into|password_hash|\.ts\b/i,
        request,
      )
      const { server, 'x-powered-by': poweredBy } = headers
      assert.deepEqual([server, poweredBy], [undefined, undefined])
      if (status >= 400)
        assert.match(String(headers['content-type']), /^(application\/problem\+json|text\/html)/)
    }
  })
})

describe('the log of a server', () => {
  test('O4 contains no database statement at the trace level, even with the debug variables of MikroORM', async (t) => {
    const DATA_DIR = await temporaryFolder(t)
    const server = await startServer(t, {
      DATA_DIR,
      LOG_LEVEL: 'trace',
      MIKRO_ORM_DEBUG: 'true',
      MIKRO_ORM_COLORS: 'false',
      JWT_SECRET: randomBytes(32).toString('base64url'),
    })
    const visitor = server.visitor()
    const registration = { ...account, password: first, confirmPassword: first }
    assert.equal((await visitor.json('/users', registration)).status, 201)
    const signIn = { username: account.email, password: first }
    assert.equal((await visitor.json('/login', signIn, { host: new URL(server.url).host })).status, 200)
    server.child.kill('SIGTERM')
    const { stdout, stderr } = await server.ended
    assert.match(stdout, /"signed in"/)
    assert.doesNotMatch(stdout + stderr, /\b(insert|select|update|delete|pragma)\b/i)
    assert.ok(!stdout.includes(first))
  })
})
