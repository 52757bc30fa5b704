import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseJsonObject } from './json-object.ts'

const parse = (text: string) => parseJsonObject(Buffer.from(text))

describe('parseJsonObject', () => {
  test('parses an object', () => {
    assert.deepEqual(parse('{"a":[{"b":"c:d"}],"e":{}}'), { a: [{ b: 'c:d' }], e: {} })
  })

  test('refuses duplicate keys, at every level and in every spelling', () => {
    for (const text of ['{"a":1,"a":1}', '{"a":{"b":1,"b":2}}', '[{"a":1,"a":1}]', '{"a":1,"\\u0061":2}'])
      assert.equal(parse(text), undefined, text)
  })

  test('refuses other values, other encodings and deep nesting', () => {
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
      assert.equal(parse(text), undefined, text)
    assert.equal(parseJsonObject(Buffer.from('{"a":"\xff"}', 'latin1')), undefined)
  })
})
