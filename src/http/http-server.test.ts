import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { startSite } from '../testing/site.ts'

/** Sends raw bytes, and returns all data that arrives until the connection is closed. */
async function send(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.setEncoding('latin1').end(Buffer.from(bytes, 'latin1'))
  let answer = ''
  socket.on('data', (text) => {
    answer += text
  })
  // The response to a rejected request may arrive before all bytes are sent.
  socket.on('error', (error: NodeJS.ErrnoException) => assert.equal(error.code, 'ECONNRESET'))
  await once(socket, 'close')
  return answer
}

const host = 'Host: localhost\r\n'
const body = '0\r\n\r\n'

const invalidRequests = {
  'a length and chunks': `POST /login HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
  'chunks and a length': `POST /login HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n${body}`,
  'two lengths': `POST /login HTTP/1.1\r\n${host}Content-Length: 5\r\nContent-Length: 6\r\n\r\n${body}`,
  'two equal lengths': `POST /login HTTP/1.1\r\n${host}Content-Length: 5\r\nContent-Length: 5\r\n\r\n${body}`,
  'a list of lengths': `POST /login HTTP/1.1\r\n${host}Content-Length: 5, 5\r\n\r\n${body}`,
  'a negative length': `POST /login HTTP/1.1\r\n${host}Content-Length: -5\r\n\r\n${body}`,
  'a length with a sign': `POST /login HTTP/1.1\r\n${host}Content-Length: +5\r\n\r\n${body}`,
  'a length that overflows': `POST /login HTTP/1.1\r\n${host}Content-Length: 99999999999999999999\r\n\r\n${body}`,
  'chunked, identity': `POST /login HTTP/1.1\r\n${host}Transfer-Encoding: chunked, identity\r\n\r\n${body}`,
  'an unknown coding': `POST /login HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n${body}`,
  'two codings': `POST /login HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${body}`,
  'a space before the colon': `POST /login HTTP/1.1\r\n${host}Content-Length : 5\r\n\r\n${body}`,
  'a folded line': `GET / HTTP/1.1\r\n${host}X-Folded: a\r\n b\r\n\r\n`,
  'a bare CR in a header': `GET / HTTP/1.1\r\n${host}X-Bare: a\rb\r\n\r\n`,
  'a NUL in a header': `GET / HTTP/1.1\r\n${host}X-Nul: a\0b\r\n\r\n`,
  'a header without a name': `GET / HTTP/1.1\r\n${host}: a\r\n\r\n`,
  'a header without a colon': `GET / HTTP/1.1\r\n${host}Nothing\r\n\r\n`,
  'bad chunk sizes': `POST /login HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  'a chunk size with a prefix': `POST /login HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n0x5\r\n`,
  'no host': 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
  'a host with a path': 'GET / HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n',
  'a host with a user': 'GET / HTTP/1.1\r\nHost: a@b\r\nConnection: close\r\n\r\n',
  'two hosts': `GET / HTTP/1.1\r\n${host}Host: evil.example\r\nConnection: close\r\n\r\n`,
  'an unknown version': `GET / HTTP/3.0\r\n${host}\r\n`,
  'a space in the target': `GET / / HTTP/1.1\r\n${host}\r\n`,
  'an unknown method': `FROB / HTTP/1.1\r\n${host}\r\n`,
  'no HTTP at all': 'hello\r\n\r\n',
}

describe('httpServer', () => {
  test('I2 I3 L2 L3 rejects an invalid request with 400 and the security headers, and closes the connection', async (t) => {
    const { url } = await startSite(t)
    for (const [name, bytes] of Object.entries(invalidRequests)) {
      const answer = await send(url, bytes)
      assert.match(answer, /^HTTP\/1\.1 400 /, name)
      assert.match(answer, /\r\nX-Content-Type-Options: nosniff\r\n/i, name)
      assert.match(answer, /\r\nContent-Security-Policy: default-src 'none'/i, name)
      assert.match(answer, /\r\nConnection: close\r\n/i, name)
      assert.match(answer, /"status":400/, name)
      assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1, name)
    }
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
  })

  test('rejects an invalid target with 400 and the security headers, and accepts an absolute URL', async (t) => {
    const { url, log } = await startSite(t)
    for (const target of ['http://', 'http://[::/login', 'http:///', 'nowhere', 'mailto:a@b.example', '*'])
      for (const method of ['GET', 'POST', 'PUT']) {
        const answer = await send(url, `${method} ${target} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
        assert.match(answer, /^HTTP\/1\.1 400 .*Content-Security-Policy: default-src 'none'.*"status":400/s)
      }
    assert.doesNotMatch(log.join(''), /stack/)
    const request = (line: string) => send(url, `${line} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    assert.match(await request('GET http://localhost/healthz?a=1'), /^HTTP\/1\.1 200 /)
    assert.match(await request('GET http://a%62/healthz'), /^HTTP\/1\.1 200 .*\r\n\r\nok$/s)
    assert.match(await request('OPTIONS *'), /^HTTP\/1\.1 [24]0/)
  })

  test('I3 responds to a health check of HTTP/1.0 without a host, as HAProxy sends it', async (t) => {
    const { url } = await startSite(t)
    for (const path of ['/healthz', '/readyz'])
      assert.match(await send(url, `GET ${path} HTTP/1.0\r\n\r\n`), /^HTTP\/1\.1 200 .*\r\n\r\nok$/s)
    assert.match(await send(url, 'GET /login HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 400 /)
  })

  test('I5 rejects a header or a target of more than 16 KB with 431', async (t) => {
    const { url } = await startSite(t)
    const long = 'a'.repeat(17_000)
    assert.match(
      await send(url, `GET / HTTP/1.1\r\n${host}X-Long: ${long}\r\n\r\n`),
      /^HTTP\/1\.1 431 .*"status":431/s,
    )
    assert.match(await send(url, `GET /${long} HTTP/1.1\r\n${host}\r\n`), /^HTTP\/1\.1 431 /)
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
  })

  test('rejects an unknown expectation with 417 and the security headers', async (t) => {
    const { url } = await startSite(t)
    const answer = await send(url, `POST /login HTTP/1.1\r\n${host}Expect: foo\r\nContent-Length: 0\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 417 .*Content-Security-Policy: default-src 'none'.*"status":417/s)
    assert.match(answer, /\r\nConnection: close\r\n/)
    assert.doesNotMatch(answer, /Strict-Transport-Security/)
  })

  test('L4 sends HSTS over TLS when it rejects an unknown expectation or transfer coding', async (t) => {
    const { url } = await startSite(t, { PUBLIC_URL: 'https://example.com', TRUST_PROXY: '1' })
    const post = `POST /login HTTP/1.1\r\n${host}X-Forwarded-Proto: https\r\n`
    for (const rest of [
      'Expect: foo\r\nContent-Length: 0\r\n\r\n',
      `Transfer-Encoding: gzip, chunked\r\n\r\n${body}`,
    ])
      assert.match(
        await send(url, post + rest),
        /^HTTP\/1\.1 4(17|00) .*\r\nStrict-Transport-Security: max-age=63072000; includeSubDomains\r\n/s,
      )
  })
})
