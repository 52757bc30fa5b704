import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { createLog, loggable } from '../log/log.ts'
import { readableLines } from './readable-lines.ts'

const hostile = [
  '\n[12:00:00] INFO: forged',
  '\u001b[2J',
  '\u009b2J',
  '\u202eevil',
  '\r',
  '\u0007',
  '\u2028',
  '\u007f',
]

async function openLog() {
  const format = await readableLines()
  const output: string[] = []
  const log = createLog('info', { write: (line) => output.push(format(line)) })
  return { log, text: () => stripVTControlCharacters(output.join('')) }
}

describe('readableLines', () => {
  it('prints the time, the level, the message and the values in one line', async () => {
    const { log, text } = await openLog()
    log.warn({ signal: 'SIGTERM', count: 2 }, 'stopping')
    assert.match(text(), /^\[\d\d:\d\d:\d\d\] WARN: stopping \{"signal":"SIGTERM","count":2\}\n$/)
  })

  it('prints the URL of the server with `localhost`', async () => {
    const { log, text } = await openLog()
    log.info({ url: 'http://127.0.0.1:3000' }, 'listening')
    assert.match(text(), /INFO: Listening on http:\/\/localhost:3000\n$/)
  })

  it('omits the request ID, the user agent and the outcome of an account event', async () => {
    const { log, text } = await openLog()
    const entry = { event: 'signed in', outcome: 'success', user: '1', request: 'a-b-c', userAgent: 'curl/8' }
    log.info(entry, 'authentication')
    assert.match(text(), /INFO: signed in \{"user":"1"\}\n$/)
  })

  it('prints the stack of an error below its line', async () => {
    const { log, text } = await openLog()
    log.error(loggable(new TypeError('out of the blue')), 'error')
    assert.match(text(), /ERROR: error \{"error":"TypeError"\}\n {4}stack: TypeError: out of the blue\n +at /)
  })

  it('escapes characters that could forge a line or control a terminal', async () => {
    for (const value of hostile) {
      const { log, text } = await openLog()
      log.info({ value, deep: { value }, name: value }, `message${value}`)
      log.info({ 'http.request.method': value, 'url.path': value }, 'request')
      log.info({ event: value, outcome: 'success' }, 'authentication')
      log.error({ error: 'Error', stack: `Error: ${value.trim()}` }, 'error')
      assert.match(
        text().replace(/\n {4}stack: .*\n$/s, ''),
        /^([\x20-\x7e]+\n){3}[\x20-\x7e]+$/,
        JSON.stringify(value),
      )
      assert.match(text(), /^[\x20-\x7e\n]+$/)
    }
  })

  it('prints the method, path, status and duration of a request, without a token', async () => {
    const { log, text } = await openLog()
    log.info(
      {
        'http.request.method': 'GET',
        'url.path': `/me/kauth_${'a'.repeat(49)}`,
        'http.response.status_code': 404,
        'http.server.request.duration': 0.0123,
        'client.address': '127.0.0.1',
      },
      'request',
    )
    assert.match(text(), /INFO: GET \/me\/\(token\) 404 \(12\.3 ms\)\n$/)
  })
})
