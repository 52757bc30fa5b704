import assert from 'node:assert/strict'
import { generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import { calculateJwkThumbprint } from 'jose'
import { type JWK, readKey, readSecret } from './key.ts'

const secret: JsonWebKey = { kty: 'oct', k: Buffer.alloc(32, 7).toString('base64url') }
const pairs = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
}
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' })
const spkiOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
const ec = jwkOf(pairs.ES256.privateKey)

function refused(source: string | JWK, message: RegExp): void {
  const error = { name: 'JWTKeyError', code: 'ERR_AUTH_JWT_KEY', status: 500, expose: false, message }
  assert.throws(() => readKey(source), error)
}

describe('readSecret', () => {
  test('J5 accepts 32 bytes or more, as bytes or as a string', () => {
    const fromBytes = readSecret(new TextEncoder().encode('ä'.repeat(16)))
    assert.equal(readSecret('ä'.repeat(16)).kid, fromBytes.kid)
    assert.equal(fromBytes.alg, 'HS256')
    for (const short of ['a'.repeat(31), '', new Uint8Array(31)])
      assert.throws(() => readSecret(short), { code: 'ERR_AUTH_JWT_KEY', message: /32 bytes or more/ })
  })

  test('J2 rejects a PEM key, because a public key is not secret', () => {
    for (const { publicKey } of Object.values(pairs)) {
      for (const pem of [spkiOf(publicKey), Buffer.from(spkiOf(publicKey))])
        assert.throws(() => readSecret(pem), { code: 'ERR_AUTH_JWT_KEY', message: /under `keys`/ })
    }
  })
})

describe('readKey', () => {
  test('reads PEM and JWK. The type of the key decides the algorithm, and the default `kid` is the thumbprint', async () => {
    for (const [alg, { privateKey, publicKey }] of Object.entries(pairs)) {
      const kid = await calculateJwkThumbprint(jwkOf(publicKey))
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
      for (const source of [pem, jwkOf(privateKey), spkiOf(publicKey), jwkOf(publicKey)]) {
        const key = readKey(source)
        assert.deepEqual([key.alg, key.kid, key.verifying.type], [alg, kid, 'public'])
        assert.equal(key.signing?.type, source === pem || 'd' in Object(source) ? 'private' : undefined)
      }
    }
    assert.equal(readKey(secret).kid, await calculateJwkThumbprint(secret))
  })

  test('uses the `kid` of a JWK', () => {
    assert.equal(readKey({ ...ec, kid: 'a' }).kid, 'a')
    assert.equal(readKey({ ...secret, kid: '' }).kid, '')
    for (const kid of [null, 5, ['a'], {}]) refused({ ...ec, kid }, /`kid`/)
  })

  test('J5 checks `use`, `key_ops` and `alg`', () => {
    for (const jwk of [ec, secret]) {
      assert.ok(readKey({ ...jwk, use: 'sig', key_ops: ['sign', 'verify'], alg: readKey(jwk).alg }))
      for (const use of ['enc', '', null, ['sig']]) refused({ ...jwk, use }, /check its `use`/)
      for (const key_ops of [[], ['encrypt'], 'sign', null, { 0: 'sign' }, ['sign, verify']])
        refused({ ...jwk, key_ops }, /`key_ops`/)
      for (const alg of ['none', 'HS512', 'RSA-OAEP', 'ES384', null, 5]) refused({ ...jwk, alg }, /`alg`/)
    }
    assert.equal(readKey({ ...secret, key_ops: ['verify'] }).signing, undefined)
    assert.ok(readKey({ ...ec, key_ops: ['sign'] }).signing)
    refused({ ...secret, key_ops: ['sign'] }, /`key_ops`/)
    refused({ ...ec, key_ops: ['verify'] }, /`key_ops`/)
  })

  test('J5 rejects weak keys, other curves and other types of keys, and names the reason', () => {
    const cases: [KeyObject, RegExp][] = [
      [generateKeyPairSync('rsa', { modulusLength: 2040 }).publicKey, /2048 bits .* this one has 2040/],
      [
        generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 }).publicKey,
        /exponent of 65537 or more; this one has 2048 and 3/,
      ],
      [generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey, /"secp384r1" is not supported/],
      [generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey, /"secp256k1"/],
      [generateKeyPairSync('ed448').publicKey, /"ed448"/],
      [generateKeyPairSync('x25519').publicKey, /"x25519"/],
      [generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey, /"rsa-pss"/],
    ]
    for (const [key, message] of cases) refused(spkiOf(key), message)
    refused({ kty: 'oct', k: Buffer.alloc(31).toString('base64url') }, /32 bytes or more; this one has 31/)
  })

  test('J5 rejects an RSA key with the ROCA vulnerability (CVE-2017-15361)', () => {
    // Wycheproof, json_web_key_test, tcId 7.
    const n =
      'AanFpofbj7KjD4Lf-N2hVMKR7yewSyXhhbirIMTGpfYEhZ_lnt5UoK98DnKIgArXGTu3MaW_HhFw16HGaTDUHqPrId7fe4r11CqRw09yBFuW79V8sYIwHdzCaWflUI6auImYbVfoN9_nD5n8N8SY9DwXw7mwZM9wREPXoDPgOoIWl6q_MPsp7n0zs3Z5ZaiQWOOzl1S9OhwAfSiiOwz6efnXEaxuTEtPd7BjSx7NaFka8Dx9U7YqXy2RFj1O9PjyaDGuRh7YXsX3iMUSP_wSyHQg_c_qHRtKUsNSGCT7OZg0hzm2KphtjnayKJvC64vAbROBR4Ubg6Bxg9IQVZ-QYyE'
    refused({ kty: 'RSA', n, e: 'AQAB' }, /CVE-2017-15361/)
  })

  test('J5 rejects malformed keys', () => {
    refused({ ...ec, x: ec.y }, /cannot be read/)
    for (const source of ['', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', {}])
      refused(source, /cannot be read/)
    for (const kty of ['EC', 'OKP', 'RSA', 'AKP', undefined, null])
      refused({ ...secret, kty }, /cannot be read/)
    for (const k of [5, null, {}, [1]])
      assert.throws(() => readKey({ kty: 'oct', k }), { name: 'JWTKeyError' })
    const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'a' } as const
    refused(pairs.ES256.privateKey.export(encrypted).toString(), /unencrypted/)
  })

  test('never shows a part of the key in an error', () => {
    const k = 'Zm9vYmFy'
    assert.throws(
      () => readKey({ kty: 'oct', k }),
      (error: Error) => !`${error.stack}${error.cause}`.includes(k) && !String(error).includes('foobar'),
    )
  })
})
