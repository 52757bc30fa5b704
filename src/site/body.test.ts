import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { basic, bearer, signUp, takeJWT } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { siteWithAda } from '../testing/site-with-ada.ts'

const html = 'Accept: text/html\r\n'
const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** Invalid bodies with their headers and the status of the response. */
const corpus: [number, Record<string, string>, string | Buffer][] = [
  [400, json, '{'],
  [400, json, 'null'],
  [400, json, '1'],
  [400, json, '{"username":}'],
  [400, json, '[]'],
  [400, json, '"text"'],
  [400, json, '{"a":1,"a":2}'],
  [400, json, '{"a":1}x'],
  [400, json, '['.repeat(14_000)],
  [400, json, `${'{"a":'.repeat(2500)}1${'}'.repeat(2500)}`],
  [400, json, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
  [400, form, Buffer.from('name=\xff', 'latin1')],
  [400, json, '\ufeff{"name":"Eve"}'],
  [400, { ...json, 'content-encoding': 'gzip' }, gzipSync('\ufeff{"name":"Eve"}')],
  ...['%FF', 'A%FFb', '%zz', '%', '%1', '%C3', '%C3%28', '%C0%80', '%ED%A0%80', '%u0041', '+%+'].flatMap(
    (part): [number, Record<string, string>, string][] => [
      [400, form, `name=${part}`],
      [400, form, `${part}=x&name=Eve`],
    ],
  ),
  ...['[name]', 'name[]', 'name[a]', 'name[', ']name', '%5Bname%5D', 'name%5B0%5D'].map(
    (name): [number, Record<string, string>, string] => [400, form, `${name}=Eve`],
  ),
  [400, form, `name=Eve&${'a=b&'.repeat(1000)}name=Ada`],
  [400, form, Array.from({ length: 51 }, (_, i) => `a${i}`).join('&')],
  [400, { ...json, 'content-encoding': 'gzip' }, 'not gzip'],
  [400, { ...json, 'content-encoding': 'gzip' }, gzipSync('{"a":"b"}').subarray(0, 15)],
  [400, { ...json, 'content-encoding': 'deflate' }, deflateRawSync('{}').subarray(0, 1)],
  [413, json, JSON.stringify({ name: 'x'.repeat(20_000) })],
  [413, form, `name=${'x'.repeat(20_000)}`],
  [413, { ...json, 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(5_000_000, 0x20))],
  [415, { 'content-type': 'text/plain' }, '{}'],
  [415, { 'content-type': 'multipart/form-data; boundary=x' }, '--x--'],
  [415, { 'content-type': 'application/xml' }, '<a/>'],
  [415, { 'content-type': 'text/plain; charset=application/json' }, '{}'],
  [415, { ...json, 'content-encoding': 'x-unknown' }, '{}'],
  [400, { 'content-type': 'application/json; charset=utf-16' }, '{}'],
  [400, { 'content-type': 'application/x-www-form-urlencoded; charset="x-unknown"' }, 'a=b'],
]

describe('a client that disconnects before the end of its body', () => {
  test('N9 causes no 5xx and no warning in the log', async (t) => {
    // With this cost, some clients disconnect while their password is verified.
    const site = await startSite(t, { BCRYPT_COST: '9' })
    const { authorization } = basic(await signUp(site))
    const { hostname, port } = new URL(site.url)
    const lines = () => site.log.map((line) => JSON.parse(line))
    const posts = () => lines().filter((line) => line['http.request.method'] === 'POST').length
    const before = posts()
    let hungUp = 0
    for (const path of ['/login', '/users', '/logout', '/account/name', '/nowhere']) {
      for (const header of ['', html, `Authorization: ${authorization}\r\n`]) {
        const head = `POST ${path} HTTP/1.1\r\nHost: x\r\n${header}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
        for (const leave of ['destroy', 'resetAndDestroy'] as const) {
          const socket = connect(Number(port), hostname)
          await once(socket, 'connect')
          socket.write(head)
          await site.visitor().get('/healthz')
          socket[leave]()
          hungUp += 1
        }
      }
    }
    while (posts() < before + hungUp) await setImmediate()
    for (const line of lines())
      assert.ok(line.level <= 30 && !(line['http.response.status_code'] >= 500), JSON.stringify(line))
  })
})

describe('a body', () => {
  test('G5 K1 gets 400, 413 or 415 if it is malformed, too large or unsupported', async (t) => {
    const { ada } = await siteWithAda(t)
    for (const [expected, headers, content] of corpus) {
      const { status } = await ada.send('POST', '/account/name', headers, content)
      assert.equal(status, expected, `${JSON.stringify(headers)} ${String(content).slice(0, 30)}`)
    }
    const page = { 'content-type': 'text/plain', accept: 'text/html' }
    assert.match((await ada.send('POST', '/account/name', page, 'x')).text, /Send JSON or a form\./)
    assert.equal((await ada.get('/me')).record.name, 'Ada')
  })

  test('can be a form of up to 50 fields in UTF-8, percent-encoded or not', async (t) => {
    const { ada } = await siteWithAda(t)
    const more = Array.from({ length: 49 }, (_, i) => `&a${i}=`).join('')
    const spellings: [string, string][] = [
      [`name=A+b${more}`, 'A b'],
      ['name=A%2Bb%26c%3Dd', 'A+b&c=d'],
      ['na%6De=%c3%84da', 'Äda'],
      ['name=Äda 🙂', 'Äda 🙂'],
      ['name=%F0%9F%99%82%EF%BF%BD\ufffd', '🙂\ufffd\ufffd'],
      ['name=a=b', 'a=b'],
      ['&&name=Ada&', 'Ada'],
      ['name=A.b&a.name=x&.name=y', 'A.b'],
    ]
    for (const [content, name] of spellings) {
      const { status } = await ada.send('POST', '/account/name', form, content)
      assert.equal(status, 303, content)
      assert.equal((await ada.get('/me')).record.name, name, content)
    }
  })
})

describe('a request without a body', () => {
  test('may have an unsupported media type, and so may a GET with a body', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const jwt = bearer(await takeJWT(site, person))
    for (const headers of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/json' }]) {
      assert.equal((await site.visitor().post('/validateLoggedInUser', { ...jwt, ...headers })).status, 200)
      assert.equal((await ada.post('/account/sessions/end-others', headers)).status, 204)
    }
    // The body of a GET has no meaning (RFC 9110 §9.3.1).
    const type = { 'content-type': 'text/plain' }
    assert.equal((await ada.send('GET', '/me', { ...type, 'content-length': '3' }, 'x=y')).status, 200)
  })
})
