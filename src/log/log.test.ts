import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DriverException } from '@mikro-orm/core'
import fc from 'fast-check'
import { createLog, loggable } from './log.ts'

// Any UTF-16, including lone surrogates and control characters.
const unit = fc.nat(0xffff).map((code) => String.fromCharCode(code))
const hostile = fc.oneof(
  fc.string({ unit, maxLength: 100 }),
  fc.constantFrom(
    '\n{"level":30}',
    '\u001b[2J',
    '\u009b31m',
    '\u2028',
    '\u2029',
    '\u0085',
    '\u202eevil',
    '"}\r\n',
  ),
)

function openLog(level = 'info') {
  const lines: string[] = []
  const sink = { write: (line: string) => void lines.push(line) }
  return { lines, log: createLog(level, sink) }
}

describe('createLog', () => {
  test('writes one line of printable ASCII, which parses as the original values', () => {
    fc.assert(
      fc.property(hostile, hostile, (value, message) => {
        const { lines, log } = openLog()
        log.info({ value, deep: { value } }, message)
        const line = lines.join('')
        assert.match(line, /^[\x20-\x7e]+\n$/)
        const { level, time, ...logged } = JSON.parse(line)
        assert.deepEqual(logged, { value, deep: { value }, msg: message })
        assert.equal(level, 30)
      }),
      { numRuns: 2000 },
    )
  })

  test('writes the time in UTC', () => {
    const { lines, log } = openLog()
    const before = new Date().toISOString()
    log.info('now')
    const { time } = JSON.parse(lines.join(''))
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.ok(before <= time && time <= new Date().toISOString())
  })

  test('replaces opaque tokens and JWTs in fields and in the message', () => {
    const { lines, log } = openLog()
    const opaque = `kauth_${'aB3_-'.repeat(10).slice(0, 49)}`
    const signed = 'eyJhbGciOiJIUzI1NiJ9.eyJ1c2VySWQiOiIxIn0.c2lnbmF0dXJl'
    log.info({ path: `/me/${opaque}/x`, other: `?${signed}&y` }, `${opaque} ${signed}`)
    const { path, other, msg } = JSON.parse(lines.join(''))
    assert.deepEqual([path, other, msg], ['/me/(token)/x', '?(token)&y', '(token) (token)'])
  })

  test('O2 replaces percent-encoded tokens, and keeps other percent-encoded text', () => {
    const paths = {
      '/kauth%5FaB3-aB3/x': '/(token)/x',
      '/%6Bauth%5faB3%2DaB3': '/(token)',
      '/eyJhbGci%2EeyJ1c2Vy%2ec2ln/x': '/(token)/x',
      '/%65yJhbGci.eyJ%631c2Vy.c2l%6e': '/(token)',
      '/%61ccount%2Fkauth': '/%61ccount%2Fkauth',
    }
    for (const [path, expected] of Object.entries(paths)) {
      const { lines, log } = openLog()
      log.info({ path }, 'request')
      assert.equal(JSON.parse(lines.join('')).path, expected)
    }
  })
})

describe('loggable', () => {
  test('contains the name and code of a driver’s error, without SQL and values', () => {
    const driver = Object.assign(new Error("insert into users values ('secret')"), { code: 'SQLITE_FULL' })
    const error = new Error('The user is unknown.', { cause: new DriverException(driver) })
    const logged = JSON.stringify(loggable(error))
    assert.match(logged, /"error":"DriverException","code":"SQLITE_FULL"/)
    assert.doesNotMatch(logged, /insert|secret/)
  })

  test('contains only the type of a thrown value that is not an error', () => {
    assert.deepEqual(loggable('a secret'), { error: 'string' })
    assert.deepEqual(loggable({ password: 'a secret' }), { error: 'object' })
  })
})
