import assert from 'node:assert/strict'
import { createPublicKey, createSecretKey } from 'node:crypto'
import { describe, test } from 'node:test'
import { JWTKey } from './key.ts'

// RFC 8037, appendix A.1 to A.4.
const ed25519 = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
const input = 'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc'
const signature = 'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg'

describe('JWTKey', () => {
  test('has the thumbprint, and verifies the signature, that RFC 8037 shows', () => {
    const key = new JWTKey(createPublicKey({ key: ed25519, format: 'jwk' }))
    assert.equal(key.kid, 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
    assert.equal(key.alg, 'EdDSA')
    assert.equal(key.canSign, false)
    assert.equal(key.verify(input, Buffer.from(signature, 'base64url')), true)
    assert.equal(key.verify(`${input}A`, Buffer.from(signature, 'base64url')), false)
  })

  test('has the thumbprint of an RSA key that RFC 7638 shows', () => {
    const n =
      '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw'
    const key = new JWTKey(createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' }))
    assert.equal(key.kid, 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
  })

  test('signs with a secret unless it may not', () => {
    assert.equal(new JWTKey(createSecretKey(Buffer.alloc(32))).canSign, true)
    assert.equal(new JWTKey(createSecretKey(Buffer.alloc(32)), false).canSign, false)
  })
})
