import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rawRequest } from '../auth/testing/raw-request.ts'
import { basic, password, registration, signIn, signUp } from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'
import { siteWithAda } from '../testing/site-with-ada.ts'

// `startSite` asserts after each test that every line is a JSON object without a secret.
describe('the request log', () => {
  test('has one line for each request, with its time, address, method, path, status and duration', async (t) => {
    const site = await startSite(t)
    const visitor = site.visitor()
    await visitor.page('/?query=hidden')
    await visitor.get('/style.css')
    await visitor.get('/me')
    await visitor.send('DELETE', '/me')
    await visitor.get('/nowhere')
    await visitor.json('/users', {}, { origin: 'https://evil.example' })
    const lines = parsed(site)
    assert.deepEqual(
      lines.map((line) => [
        line.msg,
        line['http.request.method'],
        line['url.path'],
        line['http.response.status_code'],
      ]),
      [
        ['request', 'GET', '/', 200],
        ['request', 'GET', '/style.css', 200],
        ['request', 'GET', '/me', 401],
        ['request', 'DELETE', '/me', 405],
        ['request', 'GET', '/nowhere', 404],
        ['request', 'POST', '/users', 403],
      ],
    )
    for (const { time, request, ...line } of lines) {
      assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.match(String(request), /^[\da-f-]{36}$/)
      assert.equal(line['client.address'], '127.0.0.1')
      assert.ok(Number(line['http.server.request.duration']) >= 0)
    }
    assert.equal(new Set(lines.map(({ request }) => request)).size, lines.length)
  })

  test('has the route template and the user', async (t) => {
    const { site, person: ada, ada: visitor } = await siteWithAda(t)
    await visitor.get('/problems/conflict')
    const line = parsed(site).at(-1)
    assert.deepEqual([line?.['http.route'], line?.['user.id']], ['/problems/:code', ada.id])
  })

  test('has the number of statements and their time, of this request only', async (t) => {
    const site = await startSite(t)
    const [ada, bob] = [await signIn(site, await signUp(site, 'Ada')), site.visitor()]
    site.log.length = 0
    await Promise.all([ada.page('/account'), bob.page('/login')])
    const counts = parsed(site).map((line) => [
      line['url.path'],
      Number(line['db.client.operation.count']) > 0,
      Number(line['db.client.operation.duration']) >= 0,
    ])
    assert.deepEqual(counts.sort(), [
      ['/account', true, true],
      ['/login', false, true],
    ])
  })

  test('takes over the id and the trace of a request from a trusted proxy only', async (t) => {
    const trace = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331' }
    const request = 'proxy-1:4711'
    const sent = { 'x-request-id': request, traceparent: `00-${trace.trace_id}-${trace.span_id}-01` }
    const proxied = await startSite(t, { TRUST_PROXY: '1' })
    const { requestId } = await proxied.visitor().get('/', sent)
    const line = parsed(proxied).at(-1)
    assert.equal(requestId, request)
    assert.deepEqual([line?.request, line?.trace_id, line?.span_id], [request, ...Object.values(trace)])

    const direct = await startSite(t)
    const answer = await direct.visitor().get('/', sent)
    const own = parsed(direct).at(-1)
    assert.match(String(own?.request), /^[\da-f-]{36}$/)
    assert.equal(answer.requestId, own?.request)
    assert.equal(own?.trace_id, undefined)
    for (const invalid of ['short', 'x'.repeat(37), 'a b c d e f g'])
      assert.notEqual((await proxied.visitor().get('/', { 'x-request-id': invalid })).requestId, invalid)
  })

  test('O3 cannot be forged by a name, an address, a path or a header', async (t) => {
    const site = await startSite(t)
    const forged = '\n{"level":30,"msg":"authentication","event":"signed in"}\n\u001b[2J\u2028\r'
    await signUp(site)
    site.log.length = 0
    const visitor = site.visitor()
    for (const field of ['name', 'email', 'password'])
      await visitor.json('/users', registration('Eve', { [field]: forged }))
    await visitor.form('/login', { username: forged, password: forged, next: forged })
    await visitor.json('/login', { username: forged, password })
    await visitor.get('/me', basic({ email: forged }))
    await visitor.get(`/${encodeURIComponent(forged)}`, { 'user-agent': 'x\u009b31m', referer: '\u0085' })
    const port = Number(new URL(site.url).port)
    await rawRequest(
      port,
      ['User-Agent: \u001b[2J'],
      'GET /"},{"level":30,"msg":"authentication"}\\ HTTP/1.1',
    )
    await rawRequest(port, [], 'GET /\u009b31m\u0085 HTTP/1.1')
    const lines = parsed(site)
    assert.ok(lines.length >= 7)
    for (const line of site.log) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for these characters
      assert.doesNotMatch(line.trimEnd(), /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
    }
    assert.deepEqual(
      lines.filter(({ event }) => event === 'signed in'),
      [],
    )
  })
})

function parsed({ log }: Site): Record<string, unknown>[] {
  return log.map((line) => JSON.parse(line))
}
