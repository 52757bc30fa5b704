import assert from 'node:assert/strict'
import { createPublicKey, createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import { JWTKey } from './key.ts'

const pairs = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
}

// RFC 8037, appendix A.1 to A.4.
const ed25519 = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
const input = 'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc'
const signature = 'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg'

describe('JWTKey', () => {
  test('has the thumbprint and verifies the signature of the example in RFC 8037', () => {
    const key = new JWTKey(createPublicKey({ key: ed25519, format: 'jwk' }))
    assert.equal(key.kid, 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
    assert.equal(key.alg, 'EdDSA')
    assert.equal(key.canSign, false)
    assert.equal(key.verify(input, Buffer.from(signature, 'base64url')), true)
    assert.equal(key.verify(`${input}A`, Buffer.from(signature, 'base64url')), false)
  })

  test('has the thumbprint of the example in RFC 7638', () => {
    const n =
      '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw'
    const key = new JWTKey(createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' }))
    assert.equal(key.kid, 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
  })

  test('can sign with a secret unless `maySign` is false', () => {
    assert.equal(new JWTKey(createSecretKey(Buffer.alloc(32))).canSign, true)
    assert.equal(new JWTKey(createSecretKey(Buffer.alloc(32)), false).canSign, false)
  })

  test('derives the algorithm from the type of the key', () => {
    assert.equal(new JWTKey(createSecretKey(Buffer.alloc(32))).alg, 'HS256')
    for (const [name, { privateKey, publicKey }] of Object.entries(pairs)) {
      assert.equal(new JWTKey(privateKey).alg, name)
      assert.equal(new JWTKey(publicKey).alg, name)
    }
  })

  test('J5 rejects weak keys, other curves and other types of keys, and names the reason', () => {
    const { publicKey: wide } = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 })
    const cases: [KeyObject, RegExp][] = [
      [createSecretKey(Buffer.alloc(31)), /32 bytes or more; this one has 31/],
      [createSecretKey(Buffer.alloc(0)), /this one has 0/],
      [generateKeyPairSync('rsa', { modulusLength: 2040 }).publicKey, /2048 bits or more; this one has 2040/],
      [wide, /exponent of 65537 or more; this one has 3/],
      [generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey, /P-256; this one has secp384r1/],
      [generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey, /P-256; this one has secp256k1/],
      [generateKeyPairSync('ed448').publicKey, /"ed448"/],
      [generateKeyPairSync('x25519').publicKey, /"x25519"/],
      [generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey, /"rsa-pss"/],
    ]
    for (const [key, message] of cases) {
      assert.throws(() => new JWTKey(key), { name: 'JWTKeyError', code: 'ERR_AUTH_JWT_KEY', message })
    }
  })

  test('J5 rejects an RSA key with the ROCA vulnerability (CVE-2017-15361)', () => {
    // Wycheproof, json_web_key_test, tcId 7.
    const n =
      'AanFpofbj7KjD4Lf-N2hVMKR7yewSyXhhbirIMTGpfYEhZ_lnt5UoK98DnKIgArXGTu3MaW_HhFw16HGaTDUHqPrId7fe4r11CqRw09yBFuW79V8sYIwHdzCaWflUI6auImYbVfoN9_nD5n8N8SY9DwXw7mwZM9wREPXoDPgOoIWl6q_MPsp7n0zs3Z5ZaiQWOOzl1S9OhwAfSiiOwz6efnXEaxuTEtPd7BjSx7NaFka8Dx9U7YqXy2RFj1O9PjyaDGuRh7YXsX3iMUSP_wSyHQg_c_qHRtKUsNSGCT7OZg0hzm2KphtjnayKJvC64vAbROBR4Ubg6Bxg9IQVZ-QYyE'
    const key = createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' })
    assert.throws(() => new JWTKey(key), { code: 'ERR_AUTH_JWT_KEY', message: /CVE-2017-15361/ })
  })

  test('signs and verifies synchronously, and accepts only signatures of the right length', () => {
    const keys = { HS256: createSecretKey(Buffer.alloc(32)), ...pairs }
    for (const [name, key] of Object.entries(keys)) {
      const [signing, verifying] =
        'privateKey' in key
          ? [new JWTKey(key.privateKey), new JWTKey(key.publicKey)]
          : [new JWTKey(key), new JWTKey(key)]
      const signature = signing.sign('message')
      assert.equal(verifying.verify('message', signature), true, name)
      assert.equal(verifying.verify('massage', signature), false, name)
      for (const wrong of [
        signature.subarray(1),
        signature.subarray(0, -1),
        Buffer.alloc(0),
        Buffer.from([...signature, 0]),
      ]) {
        assert.equal(verifying.verify('message', wrong), false, `${name}, ${wrong.length} bytes`)
      }
    }
  })

  test('makes ES256 signatures of 64 bytes (RFC 7518 §3.4)', () => {
    const key = new JWTKey(pairs.ES256.privateKey)
    for (let i = 0; i < 50; i += 1) assert.equal(key.sign('').length, 64)
  })
})
