import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseJsonObject } from './json-object.ts'

const parse = (text: string) => parseJsonObject(Buffer.from(text))
const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`

describe('parseJsonObject', () => {
  test('parses 500 generated JSON objects, with and without white space', () => {
    const property = fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom('', ' ', '\t', '\n'),
      (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        assert.deepEqual(parse(text), JSON.parse(text))
      },
    )
    fc.assert(property, { numRuns: 500 })
  })

  test('parses colons, quotes, braces and backslashes in strings', () => {
    for (const text of [
      '{"a:b":"c:d"}',
      '{"a\\":":"\\\\"}',
      '{"{\\"a\\":1}":[":"]}',
      '{"":""}',
      '{"\\u0022:":":"}',
    ]) {
      assert.deepEqual(parse(text), JSON.parse(text))
    }
  })

  test('rejects duplicate keys at any depth and in any spelling', () => {
    const twice = [
      '{"a":1,"a":1}',
      '{"a":1,"\\u0061":2}',
      '{"a":{"b":1,"b":2}}',
      '{"a":[{"b":1,"c":0,"b":2}]}',
      '{"__proto__":1,"__proto__":2}',
      '{"":1,"":2}',
      '{"a":{"x":1},"a":2}',
    ]
    for (const text of twice) assert.equal(parse(text), undefined, text)
  })

  test('J11 rejects a byte order mark and bytes that are not UTF-8', () => {
    assert.equal(parse('\uFEFF{}'), undefined)
    assert.equal(parseJsonObject(Buffer.from('{}', 'utf16le')), undefined)
    for (const bad of ['80', 'c0af', 'c3', 'eda080', 'f5808080', 'ff', 'f8a1a1a1a1']) {
      const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bad, 'hex'), Buffer.from('"}')])
      assert.equal(parseJsonObject(bytes), undefined, bad)
    }
  })

  test('rejects other JSON values and malformed JSON', () => {
    for (const text of [
      '',
      ' ',
      'null',
      '[]',
      '[{}]',
      '1',
      '"a"',
      'true',
      '{',
      '{}x',
      "{'a':1}",
      '{"a":NaN}',
      '{"a":1,}',
      '{}{}',
    ]) {
      assert.equal(parse(text), undefined, text)
    }
  })

  test('J10 accepts at most 32 levels of objects or lists', () => {
    assert.ok(parse(nested(32)))
    assert.equal(parse(nested(33)), undefined)
    assert.equal(parse(`{"a":${'['.repeat(32)}${']'.repeat(32)}}`), undefined)
    assert.equal(parse(`{"a":${'['.repeat(4000)}${']'.repeat(4000)}}`), undefined)
    assert.equal(parse('['.repeat(8000)), undefined)
  })
})
