import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { printable } from '../log/log.ts'
import { ago, day } from './wording.ts'

const now = Date.UTC(2026, 10, 25, 18, 36)
const minute = 60_000
const hour = 60 * minute

describe('ago', () => {
  test('rounds down to whole minutes, hours and days, and shows the date from 31 days on', () => {
    const words = [
      [-5 * minute, 'just now'],
      [minute - 1, 'just now'],
      [minute, '1 minute ago'],
      [hour - 1, '59 minutes ago'],
      [hour, '1 hour ago'],
      [24 * hour - 1, '23 hours ago'],
      [24 * hour, '1 day ago'],
      [31 * 24 * hour - 1, '30 days ago'],
      [31 * 24 * hour, '25 Oct 2026'],
    ] as const
    for (const [before, text] of words) assert.equal(ago(new Date(now - before), now), text)
  })
})

describe('day', () => {
  test('formats the day in UTC', () => {
    assert.equal(day(new Date(Date.UTC(2026, 0, 1))), '1 Jan 2026')
    assert.equal(day(new Date(Date.UTC(2026, 8, 30, 23, 59))), '30 Sep 2026')
  })
})

describe('printable', () => {
  test('returns one bounded, well-formed line without control and format characters', () => {
    const unit = fc.nat(0xffff).map((code) => String.fromCharCode(code))
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 600 }), fc.integer({ min: 1, max: 300 }), (text, most) => {
        const line = printable(text, most)
        assert.ok(line.length <= most)
        assert.ok(line.isWellFormed())
        assert.doesNotMatch(line.replaceAll(' ', ''), /[\p{C}\p{Z}]/u)
      }),
      { numRuns: 1000 },
    )
  })

  test('keeps the user agent of a browser', () => {
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'
    assert.equal(printable(firefox, 255), firefox)
  })
})
