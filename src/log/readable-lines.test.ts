import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { createLog, loggable } from './log.ts'
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
    log.warn({ path: '/me', status: 200 }, 'request')
    assert.match(text(), /^\[\d\d:\d\d:\d\d\] WARN: request \{"path":"\/me","status":200\}\n$/)
  })

  it('prints the address in the message', async () => {
    const { log, text } = await openLog()
    log.info({ url: 'http://127.0.0.1:3000' }, 'listening')
    assert.match(text(), /INFO: listening: http:\/\/127\.0\.0\.1:3000\n$/)
  })

  it('prints the stack of an error line by line', async () => {
    const { log, text } = await openLog()
    log.error(loggable(new TypeError('out of the blue')), 'error')
    assert.match(text(), /ERROR: error \{"error":"TypeError"\}\n {4}stack: TypeError: out of the blue\n +at /)
  })

  it('escapes what could forge a line or command a terminal', async () => {
    for (const value of hostile) {
      const { log, text } = await openLog()
      log.info({ value, deep: { value }, name: value }, `message${value}`)
      log.error({ error: 'Error', stack: `Error: ${value.trim()}` }, 'error')
      assert.match(
        text().replace(/\n {4}stack: .*\n$/s, ''),
        /^[\x20-\x7e]+\n[\x20-\x7e]+$/,
        JSON.stringify(value),
      )
      assert.match(text(), /^[\x20-\x7e\n]+$/)
    }
  })

  it('holds no token', async () => {
    const { log, text } = await openLog()
    log.info({ path: `/me/kauth_${'a'.repeat(49)}` }, 'request')
    assert.match(text(), /"path":"\/me\/\(token\)"/)
  })
})
