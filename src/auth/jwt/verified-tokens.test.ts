import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { VerifiedTokens } from './verified-tokens.ts'

/** A cache, and the number of verifications. */
function verifierOf(tokens = new VerifiedTokens()) {
  let verified = 0
  const verify = async (token: string, { typ = 'JWT', isRight = true } = {}) => {
    const claims = await tokens.claims(token, typ, async () => {
      verified += 1
      return isRight ? { token } : undefined
    })
    return claims?.token
  }
  return { verify, verified: () => verified }
}

describe('VerifiedTokens', () => {
  test('verifies a valid token once, and an invalid token every time', async () => {
    const { verify, verified } = verifierOf()
    assert.deepEqual([await verify('a'), await verify('a'), await verify('a')], ['a', 'a', 'a'])
    assert.equal(verified(), 1)
    assert.deepEqual(
      [await verify('b', { isRight: false }), await verify('b', { isRight: false })],
      [undefined, undefined],
    )
    assert.equal(verified(), 3)
  })

  test('distinguishes tokens by case, length and `typ`', async () => {
    const { verify, verified } = verifierOf()
    await verify('a.b.c')
    for (const other of ['a.b.C', 'a.b.c ', 'a.b.', 'a.b.c=']) {
      assert.equal(await verify(other, { isRight: false }), undefined)
    }
    assert.equal(await verify('a.b.c', { typ: 'other', isRight: false }), undefined)
    assert.equal(verified(), 6)
  })

  test('returns frozen claims', async () => {
    const tokens = new VerifiedTokens()
    const claims = await tokens.claims('a', 'JWT', async () => ({ roles: [{ name: 'reader' }] }))
    const { roles } = claims as { roles: { name: string }[] }
    assert.throws(() => roles.push({ name: 'admin' }), TypeError)
    assert.throws(() => Object.assign(roles[0] ?? {}, { name: 'admin' }), TypeError)
    assert.throws(() => Object.assign(claims ?? {}, { admin: true }), TypeError)
  })

  test('drops the oldest token above the maximum number', async () => {
    const { verify, verified } = verifierOf(new VerifiedTokens(2))
    for (const each of ['a', 'b', 'c', 'b', 'c']) await verify(each)
    assert.equal(verified(), 3)
    await verify('a')
    assert.equal(verified(), 4)
  })
})
