import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseJsonObject } from './json-object.ts'

describe('parseJsonObject', () => {
  test('parses an object', () => {
    assert.deepEqual(parseJsonObject('{"a":[{"b":"c:d"}],"e":{}}'), { a: [{ b: 'c:d' }], e: {} })
  })

  test('parses generated objects, with different white space', () => {
    const property = fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom('', ' ', '\t', '\n'),
      (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        assert.deepEqual(parseJsonObject(text), JSON.parse(text))
      },
    )
    fc.assert(property, { numRuns: 500 })
  })

  test('parses colons, quotes, braces and backslashes in strings', () => {
    for (const text of ['{"a:b":"c:d"}', '{"a\\":":"\\\\"}', '{"{\\"a\\":1}":[":"]}', '{"\\u0022:" :":"}'])
      assert.deepEqual(parseJsonObject(text), JSON.parse(text))
  })

  test('parses the same key in different objects', () => {
    for (const text of ['{"a":{"a":{"a":1}}}', '{"a":[{"b":1},{"b":2}]}'])
      assert.deepEqual(parseJsonObject(text), JSON.parse(text))
  })

  test('rejects and names a duplicate key, at every level and with escapes', () => {
    for (const [text, key] of [
      ['{"a":1,"a":1}', 'a'],
      ['{"a":{"b":1,"b":2}}', 'b'],
      ['{"a":[{"b":1,"c":0,"b":2}]}', 'b'],
      ['{"a":1,"\\u0061":2}', 'a'],
      ['{"a" :{"x":1}, "a"\n:2}', 'a'],
      ['{"__proto__":1,"__proto__":2}', '__proto__'],
      ['{"a\\nb\\u202e":1,"a\\nb\\u202e":2}', 'a?b?'],
      [`{"${'x'.repeat(50)}":1,"${'x'.repeat(50)}":2}`, `${'x'.repeat(40)}...`],
    ] as const) {
      const message = `Duplicate key \`${key}\` in the body.`
      assert.throws(() => parseJsonObject(text), { status: 400, code: 'duplicate_key', message }, text)
    }
  })

  test('rejects invalid JSON and a byte order mark', () => {
    for (const text of ['', '{', '{bad', "{'a':1}", '{"a":1,}', '{}{}', '\ufeff{}', '[{"a":1,"a":1}'])
      assert.throws(() => parseJsonObject(text), { status: 400, code: 'invalid_json' }, text)
  })

  test('rejects values that are not objects', () => {
    for (const text of ['[]', 'null', '1', '"a"', 'true', '[{"a":1,"a":1}]'])
      assert.throws(() => parseJsonObject(text), { status: 400, code: 'not_a_json_object' }, text)
  })

  test('rejects more than 32 levels of objects and lists', () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    assert.ok(parseJsonObject(nested(32)))
    for (const text of [nested(33), `{"a":${'['.repeat(32)}${']'.repeat(32)}}`])
      assert.throws(() => parseJsonObject(text), { status: 400, code: 'json_too_deep' }, text)
  })
})
