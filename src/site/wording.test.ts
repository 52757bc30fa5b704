import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { printable } from './wording.ts'

describe('printable', () => {
  test('returns one bounded, well-formed line without control and invisible characters', () => {
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
