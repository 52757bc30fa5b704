import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dictionary } from '@zxcvbn-ts/language-common'
import { isCommonPassword } from './password-problem.ts'

describe('isCommonPassword', () => {
  test('B7 returns true for every listed password of at least 8 characters, as listed and in upper case', () => {
    const list = dictionary['passwords-common'].filter((password) => password.length >= 8)

    assert.ok(list.length >= 3000)
    assert.deepEqual(
      list.filter((password) => !isCommonPassword(password)),
      [],
    )
    assert.deepEqual(
      list.filter((password) => !isCommonPassword(password.toUpperCase())),
      [],
    )
  })

  test('returns false for other passwords', () => {
    for (const password of [
      'correct horse battery',
      'password and then some',
      'constructor of houses',
      '__proto__',
    ]) {
      assert.equal(isCommonPassword(password), false, password)
    }
  })
})
