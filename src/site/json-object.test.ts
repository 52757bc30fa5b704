import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseJsonObject } from './json-object.ts'

describe('parseJsonObject', () => {
  test('parses an object', () => {
    assert.deepEqual(parseJsonObject('{"a":[{"b":"c:d"}],"e":{}}'), { a: [{ b: 'c:d' }], e: {} })
  })

  test('rejects duplicate keys at every level and in every spelling', () => {
    for (const text of ['{"a":1,"a":1}', '{"a":{"b":1,"b":2}}', '[{"a":1,"a":1}]', '{"a":1,"\\u0061":2}'])
      assert.equal(parseJsonObject(text), undefined, text)
  })

  test('rejects other values, a byte order mark and deep nesting', () => {
    for (const text of [
      '',
      '[]',
      'null',
      '1',
      '"a"',
      '{',
      '\ufeff{}',
      `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
    ])
      assert.equal(parseJsonObject(text), undefined, text)
  })
})
