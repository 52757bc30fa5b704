import assert from 'node:assert/strict'
import { createHmac, createSecretKey } from 'node:crypto'
import { describe, test } from 'node:test'
import { claimRules } from './claims.ts'
import { type Claims, JWTPayload } from './index.ts'
import { TokenVerifier } from './token-verifier.ts'

class Note extends JWTPayload {
  static readonly lifetime = 900
  readonly claims: Claims

  constructor(claims: Claims, expiration: Date) {
    super(expiration)
    this.claims = claims
  }

  static parse(claims: Claims, expiration: Date): Note {
    return new Note(claims, expiration)
  }
}

/** A verifier, its number of verifications, and a function that signs tokens for it. */
function start(maxTokens?: number) {
  const made = 1_800_000_000
  const key = createSecretKey(Buffer.alloc(32, 's'))
  let verified = 0
  const getKey = () => {
    verified += 1
    return key
  }
  const rules = claimRules({ issuer: 'site', audience: 'api', now: () => made * 1000 })
  const verifier = new TokenVerifier(rules, () => [{ getKey, algorithms: ['HS256'] }], maxTokens)
  const claims = { iss: 'site', aud: 'api', iat: made, exp: made + 900 }
  const sign = (more: object = {}, secret = key) => {
    const parts = [
      { alg: 'HS256', typ: 'JWT' },
      { ...claims, ...more },
    ]
    const input = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  }
  const claimsOf = async (token: string, typ = 'JWT') => (await verifier.verify(token, Note, typ))?.claims
  return { sign, claimsOf, verified: () => verified }
}

describe('TokenVerifier', () => {
  test('verifies a valid token once, and an invalid token every time', async () => {
    const { sign, claimsOf, verified } = start()
    const right = sign({ name: 'Ada' })
    for (let i = 0; i < 3; i += 1) assert.equal((await claimsOf(right))?.name, 'Ada')
    assert.equal(verified(), 1)
    const wrong = sign({ name: 'Ada' }, createSecretKey(Buffer.alloc(32, 'w')))
    for (let i = 0; i < 2; i += 1) assert.equal(await claimsOf(wrong), undefined)
    assert.equal(verified(), 3)
  })

  test('distinguishes tokens by case, length and `typ`', async () => {
    const { sign, claimsOf } = start()
    const token = sign()
    assert.ok(await claimsOf(token))
    const swapped = token.replace(/[a-z]/, (letter) => letter.toUpperCase())
    for (const other of [swapped, `${token} `, token.slice(0, -1), `${token}=`])
      assert.equal(await claimsOf(other), undefined, other)
    assert.equal(await claimsOf(token, 'other'), undefined)
  })

  test('returns frozen claims', async () => {
    const { sign, claimsOf } = start()
    const claims = (await claimsOf(sign({ roles: [{ name: 'reader' }] }))) ?? assert.fail()
    const { roles } = claims as { roles: { name: string }[] }
    assert.throws(() => roles.push({ name: 'admin' }), TypeError)
    assert.throws(() => Object.assign(roles[0] ?? {}, { name: 'admin' }), TypeError)
    assert.throws(() => Object.assign(claims, { admin: true }), TypeError)
  })

  test('drops the oldest token when the cache is full', async () => {
    const { sign, claimsOf, verified } = start(5)
    const tokens = Array.from({ length: 6 }, (_, i) => sign({ i }))
    for (const token of tokens) await claimsOf(token)
    await claimsOf(tokens.at(-1) ?? '')
    assert.equal(verified(), 6)
    await claimsOf(tokens[0] ?? '')
    assert.equal(verified(), 7)
  })
})
