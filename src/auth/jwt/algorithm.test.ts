import assert from 'node:assert/strict'
import { createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import { algorithmOf } from './algorithm.ts'

const pairs = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
}

describe('algorithmOf', () => {
  test('lets the kind of the key decide', () => {
    assert.equal(algorithmOf(createSecretKey(Buffer.alloc(32))).name, 'HS256')
    for (const [name, { privateKey, publicKey }] of Object.entries(pairs)) {
      assert.equal(algorithmOf(privateKey).name, name)
      assert.equal(algorithmOf(publicKey).name, name)
    }
  })

  test('refuses weak keys, other curves and other kinds, and says why', () => {
    const { publicKey: wide } = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 })
    const cases: [KeyObject, RegExp][] = [
      [createSecretKey(Buffer.alloc(31)), /32 bytes or more; this one has 31/],
      [createSecretKey(Buffer.alloc(0)), /this one has 0/],
      [generateKeyPairSync('rsa', { modulusLength: 2040 }).publicKey, /2048 bits or more; this one has 2040/],
      [wide, /exponent from 65537 up; this one has 3/],
      [generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey, /P-256; this one has secp384r1/],
      [generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey, /P-256; this one has secp256k1/],
      [generateKeyPairSync('ed448').publicKey, /"ed448"/],
      [generateKeyPairSync('x25519').publicKey, /"x25519"/],
      [generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey, /"rsa-pss"/],
    ]
    for (const [key, message] of cases) {
      assert.throws(() => algorithmOf(key), { name: 'JWTKeyError', code: 'ERR_AUTH_JWT_KEY', message })
    }
  })

  test('signs and verifies at once, and takes signatures of the right length only', () => {
    const keys = { HS256: createSecretKey(Buffer.alloc(32)), ...pairs }
    for (const [name, key] of Object.entries(keys)) {
      const [signing, verifying] = 'privateKey' in key ? [key.privateKey, key.publicKey] : [key, key]
      const algorithm = algorithmOf(signing)
      const signature = algorithm.sign('message', signing)
      assert.equal(algorithm.verify('message', signature, verifying), true, name)
      assert.equal(algorithm.verify('massage', signature, verifying), false, name)
      for (const wrong of [
        signature.subarray(1),
        signature.subarray(0, -1),
        Buffer.alloc(0),
        Buffer.from([...signature, 0]),
      ]) {
        assert.equal(algorithm.verify('message', wrong, verifying), false, `${name}, ${wrong.length} bytes`)
      }
    }
  })

  test('makes ES256 signatures of 64 bytes (RFC 7518 §3.4)', () => {
    for (let i = 0; i < 50; i += 1)
      assert.equal(algorithmOf(pairs.ES256.privateKey).sign('', pairs.ES256.privateKey).length, 64)
  })
})
