import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { VerifiedTokens } from './verified-tokens.ts'

/** A cache, and the number of tokens that it had to verify. */
function asked(tokens = new VerifiedTokens()) {
  let verified = 0
  const ask = (token: string, { typ = 'JWT', isRight = true } = {}) =>
    tokens.claims(token, typ, () => {
      verified += 1
      return isRight ? { token, roles: [{ name: 'reader' }] } : undefined
    })?.token
  return { ask, verified: () => verified }
}

describe('VerifiedTokens', () => {
  test('verifies a valid token once, and an invalid token every time', () => {
    const { ask, verified } = asked()
    assert.deepEqual([ask('a'), ask('a'), ask('a')], ['a', 'a', 'a'])
    assert.equal(verified(), 1)
    assert.deepEqual([ask('b', { isRight: false }), ask('b', { isRight: false })], [undefined, undefined])
    assert.equal(verified(), 3)
  })

  test('distinguishes tokens by every character, by length and by `typ`', () => {
    const { ask, verified } = asked()
    ask('a.b.c')
    for (const other of ['a.b.C', 'a.b.c ', 'a.b.', 'a.b.c=']) {
      assert.equal(ask(other, { isRight: false }), undefined)
    }
    assert.equal(ask('a.b.c', { typ: 'other', isRight: false }), undefined)
    assert.equal(verified(), 6)
  })

  test('returns frozen claims', () => {
    const tokens = new VerifiedTokens()
    const claims = tokens.claims('a', 'JWT', () => ({ roles: [{ name: 'reader' }] }))
    const { roles } = claims as { roles: { name: string }[] }
    assert.throws(() => roles.push({ name: 'admin' }), TypeError)
    assert.throws(() => Object.assign(roles[0] ?? {}, { name: 'admin' }), TypeError)
    assert.throws(() => Object.assign(claims ?? {}, { admin: true }), TypeError)
  })

  test('drops the least recently used tokens above the maximum length', () => {
    const { ask, verified } = asked(new VerifiedTokens(100))
    for (let i = 0; i < 1000; i += 1) {
      ask(`a${i}`)
      ask('kept')
    }
    assert.equal(verified(), 1001)
    ask('a999')
    assert.equal(verified(), 1001)
    ask('a0')
    assert.equal(verified(), 1002)
    const [one, another] = ['x'.repeat(100), 'y'.repeat(100)]
    for (const each of [one, another, 'z', one]) ask(each)
    assert.equal(verified(), 1006)
  })
})
