import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseJsonObject } from './json-object.ts'

// src/auth/json-object.test.ts tests what is accepted.
describe('parseJsonObject', () => {
  test('rejects and names a duplicate key, at every level and with escapes', () => {
    for (const [text, key] of [
      ['{"a":[{"b":1,"c":0,"b":2}]}', 'b'],
      ['{"a" :{"x":1}, "\\u0061"\n:2}', 'a'],
      ['{"__proto__":1,"__proto__":2}', '__proto__'],
      ['{"a\\nb\\u202e":1,"a\\nb\\u202e":2}', 'a?b?'],
      [`{"${'x'.repeat(50)}":1,"${'x'.repeat(50)}":2}`, `${'x'.repeat(40)}...`],
    ] as const) {
      const message = `Duplicate key \`${key}\` in the body.`
      assert.throws(() => parseJsonObject(text), { status: 400, code: 'duplicate_key', message }, text)
    }
  })

  test('names the reason of another rejection', () => {
    for (const [text, code] of [
      ['{bad', 'invalid_json'],
      ['\ufeff{}', 'invalid_json'],
      ['[{"a":1,"a":1}]', 'not_a_json_object'],
      [`{"a":${'['.repeat(32)}${']'.repeat(32)}}`, 'json_too_deep'],
    ] as const)
      assert.throws(() => parseJsonObject(text), { status: 400, code }, text)
  })
})
