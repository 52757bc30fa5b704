import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { decodeBase64url } from './base64url.ts'

describe('decodeBase64url', () => {
  test('decodes what was encoded', () => {
    const property = fc.property(fc.uint8Array(), (bytes) => {
      const decoded = decodeBase64url(Buffer.from(bytes).toString('base64url'))
      assert.deepEqual(decoded && [...decoded], [...bytes])
    })
    fc.assert(property)
  })

  test('refuses padding, white space, the other alphabet, stray bits and lengths that cannot be', () => {
    const bad = [
      'AA==',
      'AAA=',
      'AA ',
      ' AA',
      'A\nA',
      'A A',
      '+_8',
      '-/8',
      'AB',
      'AAB',
      'A',
      'AAAAA',
      'AA.',
      'ÄÄ',
      'ŁŁ',
    ]
    for (const text of bad) assert.equal(decodeBase64url(text), undefined, JSON.stringify(text))
  })
})
