import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nameProblem } from './person-name.ts'

describe('nameProblem', () => {
  test('K9 accepts names in many scripts, up to 100 code points', () => {
    const names = [
      'X',
      'Ada Lovelace',
      'Zoë',
      "O'Brien",
      '山田太郎',
      'نور',
      'क्षितिज',
      'María-José',
      '🙂',
      '👩‍🚀',
      'می\u200Cخواهم',
    ]
    for (const name of [...names, 'n'.repeat(100), '🙂'.repeat(100)])
      assert.equal(nameProblem(name), undefined, name)
  })

  test('rejects a missing and a too long name', () => {
    assert.equal(nameProblem(''), 'Enter a name.')
    for (const name of ['n'.repeat(101), '🙂'.repeat(101), 'n'.repeat(1_000_000)]) {
      assert.match(nameProblem(name) ?? '', /100 characters or fewer/)
    }
  })

  test('K6 K9 rejects control characters and bidirectional overrides', () => {
    for (const bad of [
      '\0',
      '\n',
      '\r',
      '\u001B[2J',
      '\u007F',
      '\u0085',
      '\u2028',
      '\u202E',
      '\u2066',
      '\ud800',
    ]) {
      assert.match(nameProblem(`Ada${bad}Lovelace`) ?? 'accepted', /cannot be printed/, JSON.stringify(bad))
    }
  })

  test('K9 rejects invisible names', () => {
    for (const name of [
      '\u200B',
      '\u200D\u2060\uFEFF',
      '\u3164',
      '\u115F \u1160',
      '\u2800',
      '\u00AD',
      '\uFE0F',
      '\u061C',
    ]) {
      assert.match(nameProblem(name) ?? 'accepted', /can be seen/, JSON.stringify(name))
    }
  })
})
