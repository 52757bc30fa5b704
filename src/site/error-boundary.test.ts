import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { password, signUp } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { siteWithAda } from '../testing/site-with-ada.ts'

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const html = { accept: 'text/html' }

describe('errors', () => {
  test('O1 are application/problem+json (RFC 9457) for an API client', async (t) => {
    const site = await startSite(t)
    const { status, headers, record } = await site.visitor().get('/nowhere')
    assert.equal(status, 404)
    assert.match(headers['content-type'] ?? '', /^application\/problem\+json/)
    assert.deepEqual(record, {
      type: '/problems/not_found',
      title: 'Not found',
      status: 404,
      detail: 'There is nothing at this address.',
      code: 'not_found',
    })
  })

  test('O1 are a page with the same message for a browser', async (t) => {
    const site = await startSite(t)
    const { status, headers, text } = await site.visitor().page('/nowhere')
    assert.equal(status, 404)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.match(text, /<h1>Page not found<\/h1>/)
    assert.match(text, /There is nothing at this address\./)
  })

  test('show the signed-in user on the page', async (t) => {
    const { ada } = await siteWithAda(t)
    assert.match((await ada.page('/nowhere')).text, /<bdi>Ada<\/bdi>/)
  })

  test('404: for an unknown path, with five methods', async (t) => {
    const site = await startSite(t)
    for (const path of [
      '/nowhere',
      '/me/',
      '/ME',
      '/login/x',
      '/%',
      '/%00',
      '/%ff',
      '/a%2Fb',
      '/__proto__',
      `/${'x'.repeat(8000)}`,
      '//',
      '/users/1',
    ])
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'])
        assert.equal((await site.visitor().send(method, path)).status, 404, `${method} ${path.slice(0, 20)}`)
  })

  test('405: lists the methods of the path in Allow', async (t) => {
    const site = await startSite(t)
    const page = await site.visitor().send('PUT', '/login', html)
    assert.deepEqual([page.status, page.headers.allow], [405, 'HEAD, GET, POST'])
    assert.match(page.text, /<h1>Page not found<\/h1>/)
    assert.doesNotMatch(page.text, /This URL accepts/)
    const { record } = await site.visitor().send('DELETE', '/users')
    assert.deepEqual(
      [record.code, record.detail],
      ['method_not_allowed', 'Method not allowed. This URL accepts POST.'],
    )
    const options = await site.visitor().send('OPTIONS', '/login')
    assert.deepEqual(
      [options.status, options.text, sorted(options.headers.allow)],
      [200, '', 'GET, HEAD, POST'],
    )
  })

  test('B6 I5 413: for a body over 16 KB, as JSON, as a form, compressed or chunked', async (t) => {
    const site = await startSite(t)
    await signUp(site)
    const body = (size: number) => {
      const text = JSON.stringify({ username: 'ada@example.com', password, more: '' })
      return text.replace('"more":""', `"more":"${'x'.repeat(size - text.length)}"`)
    }
    const send = (headers: Record<string, string>, content: string | Buffer) =>
      site.visitor().send('POST', '/login', headers, content)
    assert.equal((await send(json, body(16_384))).status, 200)
    for (const [headers, content] of [
      [json, body(16_385)],
      [form, `username=${'x'.repeat(16_384)}`],
      [{ ...json, 'content-encoding': 'gzip' }, gzipSync(body(1_000_000))],
    ] as const)
      assert.equal((await send(headers, content)).status, 413)
    const chunked = await site
      .visitor()
      .open('POST', '/login', { ...json, 'transfer-encoding': 'chunked' })
      .end(body(17_000))
    assert.equal(chunked.status, 413)
    assert.match((await send({ ...form, ...html }, 'x'.repeat(17_000))).text, /too large/)
  })

  test('500: shows the reference that the log has for the request, and no detail of the error', async (t) => {
    const site = await startSite(t)
    t.mock.method(site.orm, 'isConnected', () => assert.fail('a secret of the server'))
    for (const accept of ['*/*', 'text/html']) {
      site.log.length = 0
      const { status, text } = await fetch(`${site.url}/readyz`, { headers: { accept } }).then(
        async (response) => ({ status: response.status, text: await response.text() }),
      )
      const lines = site.log.map((line) => JSON.parse(line))
      assert.equal(status, 500)
      assert.doesNotMatch(text, /secret/)
      const [, reference] = /(?:\(reference |title=")([\da-f-]{36})/.exec(text) ?? []
      assert.ok(lines.some(({ msg, request }) => msg === 'error' && request === reference))
      assert.ok(lines.some(({ msg, request }) => msg === 'request' && request === reference))
    }
  })
})

describe('the format of a response', () => {
  test('is JSON for an Authorization header, else a page for a form or if `Accept` prefers HTML, else JSON', async (t) => {
    const site = await startSite(t)
    const isPage = async (headers: Record<string, string>, body = '', method = 'POST') => {
      const { headers: answered } = await site.visitor().send(method, '/nowhere', headers, body)
      return answered['content-type']?.startsWith('text/html')
    }
    const header = { authorization: 'Bearer x' }
    assert.equal(await isPage({}, '', 'GET'), false)
    assert.equal(await isPage({ accept: '*/*' }, '', 'GET'), false)
    assert.equal(await isPage({ accept: 'application/json' }, '', 'GET'), false)
    assert.equal(await isPage({ accept: 'application/json, text/html;q=0.9' }, '', 'GET'), false)
    assert.equal(await isPage(html, '', 'GET'), true)
    assert.equal(await isPage({ accept: 'text/html, application/json;q=0.9' }, '', 'GET'), true)
    assert.equal(await isPage({ ...html, ...header }, '', 'GET'), false)
    assert.equal(await isPage(form, 'a=b'), true)
    assert.equal(await isPage({ ...form, accept: 'application/json' }, 'a=b'), true)
    assert.equal(await isPage({ ...form, ...html, ...header }, 'a=b'), false)
    assert.equal(await isPage(json, '{}'), false)
    assert.equal(await isPage({ ...json, ...html }, '{}'), true)
  })
})

/** Sorts the methods in a header, because their order has no meaning (RFC 9110 §10.2.1). */
function sorted(methods = ''): string {
  return methods.split(', ').sort().join(', ')
}
