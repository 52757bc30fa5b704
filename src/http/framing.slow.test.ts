import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { startSite } from '../testing/site.ts'

const host = 'Host: localhost\r\n'
const post = `POST /login HTTP/1.1\r\n${host}Content-Type: application/json\r\n`
const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`

// Servers disagree about the end of these lines and requests (RFC 9112 §2.2, §6.3, §7.1).
const ambiguousRequests = {
  'line feeds alone': 'GET /me HTTP/1.1\nHost: localhost\n\n',
  'a line feed after the request line': `GET /me HTTP/1.1\n${host}\r\n`,
  'a line feed after a header': 'GET /me HTTP/1.1\r\nHost: localhost\n\r\n',
  'a line feed at the end of the headers': `GET /me HTTP/1.1\r\n${host}\n`,
  'a line feed after the size of a chunk': `${chunked}2\n{}\r\n0\r\n\r\n`,
  'a line feed after a chunk': `${chunked}2\r\n{}\n0\r\n\r\n`,
  'a line feed in the extension of a chunk': `${chunked}2;\nxx\r\n{}\r\n0\r\n\r\n`,
  'a chunk that is longer than its size': `${chunked}1\r\n{}\r\n0\r\n\r\n`,
  'a control character before the coding': `${post}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`,
  'the identity coding': `${post}Transfer-Encoding: identity\r\n\r\n`,
  'a length in another base': `${post}Content-Length: 0x2\r\n\r\n{}`,
  'two equal lengths': `${post}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
  'chunks in HTTP/1.0': `${post.replace('1.1', '1.0')}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunks in HTTP/1.0 with keep-alive': `${post.replace('1.1', '1.0')}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunks beside a length in HTTP/1.0': `${post.replace('1.1', '1.0')}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'another coding before the chunks': `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  'another coding in a line of its own': `${post}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'an empty coding before the chunks': `${post}Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n`,
  'another coding in a GET request': `GET /me HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  'a length beside chunks': `${post}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG`,
}

describe('a request with an ambiguous end', () => {
  test('I2 gets one 400, and its connection is closed without handling a later request', async (t) => {
    const { url, log } = await startSite(t)
    for (const [name, bytes] of Object.entries(ambiguousRequests)) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      let answer = ''
      socket.setEncoding('latin1').on('data', (text) => {
        answer += text
      })
      socket.on('error', (error: NodeJS.ErrnoException) => assert.match(error.code ?? '', /ECONNRESET|EPIPE/))
      socket.write(Buffer.from(`${bytes}GET /healthz HTTP/1.1\r\n${host}\r\n`, 'latin1'))
      await once(socket, 'close')
      assert.match(answer, /^HTTP\/1\.1 400 .*\r\nConnection: close\r\n.*"status":400/s, name)
      assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1, name)
      assert.doesNotMatch(log.join(''), /healthz/, `${name}: handles no later request`)
    }
  })
})

describe('a request with a clear end', () => {
  test('I2 is accepted in HTTP/1.1 with the coding `Chunked`, and in HTTP/1.0 with a length', async (t) => {
    const { url } = await startSite(t)
    for (const bytes of [
      `${post}Connection: close\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      `${post.replace('1.1', '1.0')}Content-Length: 2\r\n\r\n{}`,
    ]) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write(bytes)
      assert.match(await text(socket), /^HTTP\/1\.1 401 /, bytes)
    }
  })
})
