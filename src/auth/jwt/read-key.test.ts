import assert from 'node:assert/strict'
import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { describe, test } from 'node:test'
import { calculateJwkThumbprint } from 'jose'
import { readKey, readSecret } from './read-key.ts'

const secret = { kty: 'oct', k: Buffer.alloc(32, 7).toString('base64url') }
const pairs = [
  generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  generateKeyPairSync('ed25519'),
  generateKeyPairSync('rsa', { modulusLength: 2048 }),
]
const jwkOf = (pair: (typeof pairs)[number]) => pair.privateKey.export({ format: 'jwk' })
const [ec, ed, rsa] = pairs.map(jwkOf) as [JsonWebKey, JsonWebKey, JsonWebKey]

function refused(source: string | JsonWebKey, message: RegExp): void {
  assert.throws(() => readKey(source), {
    name: 'JWTKeyError',
    code: 'ERR_AUTH_JWT_KEY',
    status: 500,
    expose: false,
    message,
  })
}

describe('readSecret', () => {
  test('accepts 32 bytes or more, as bytes or as a string', () => {
    const fromText = readSecret('ä'.repeat(16))
    const fromBytes = readSecret(new TextEncoder().encode('ä'.repeat(16)))
    assert.equal(fromText.kid, fromBytes.kid)
    assert.equal(fromText.verify('a', fromBytes.sign('a')), true)
    for (const short of ['a'.repeat(31), '', new Uint8Array(31)]) {
      assert.throws(() => readSecret(short), { code: 'ERR_AUTH_JWT_KEY', message: /32 bytes/ })
    }
  })

  test('rejects a PEM key, because a public key is not secret', () => {
    for (const { publicKey } of pairs) {
      const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
      for (const secret of [pem, Buffer.from(pem)]) {
        assert.throws(() => readSecret(secret), { code: 'ERR_AUTH_JWT_KEY', message: /under `keys`/ })
      }
    }
  })
})

describe('readKey', () => {
  test('reads private and public keys as PEM and as JWK, with the same thumbprint', async () => {
    for (const { privateKey, publicKey } of pairs) {
      const jwk = privateKey.export({ format: 'jwk' })
      const forms = [
        readKey(jwk),
        readKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
        readKey(publicKey.export({ format: 'jwk' })),
        readKey(publicKey.export({ type: 'spki', format: 'pem' }).toString()),
      ]
      assert.deepEqual(new Set(forms.map((key) => key.kid)), new Set([await calculateJwkThumbprint(jwk)]))
      assert.deepEqual(
        forms.map((key) => key.canSign),
        [true, true, false, false],
      )
    }
    assert.equal(readKey(secret).kid, await calculateJwkThumbprint(secret))
    assert.equal(readKey(rsa).alg, 'RS256')
  })

  test('J5 checks `use`, `key_ops` and `alg`', () => {
    for (const jwk of [ec, ed, rsa, secret]) {
      assert.ok(readKey({ ...jwk, use: 'sig', key_ops: ['sign', 'verify'], alg: readKey(jwk).alg }))
      for (const use of ['enc', '', null, ['sig']]) refused({ ...jwk, use }, /`use`/)
      for (const key_ops of [[], ['encrypt'], 'sign', null, { 0: 'sign' }, ['sign, verify']])
        refused({ ...jwk, key_ops }, /`key_ops`/)
      for (const alg of ['none', 'HS512', 'RSA-OAEP', 'ES384', 'A256GCM', null, 5])
        refused({ ...jwk, alg }, /`alg`/)
    }
  })

  test('sets `canSign` by `key_ops`', () => {
    assert.equal(readKey({ ...secret, key_ops: ['verify'] }).canSign, false)
    assert.equal(readKey({ ...ec, key_ops: ['sign'] }).canSign, true)
    refused({ ...secret, key_ops: ['sign'] }, /"verify"/)
    refused({ ...ec, key_ops: ['verify'] }, /"sign"/)
    const { d, ...publicHalf } = ec
    refused({ ...publicHalf, key_ops: ['sign'] }, /"verify"/)
  })

  test('rejects malformed keys and mismatched key pairs', () => {
    const other = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }) as (typeof pairs)[number])
    refused({ ...ec, d: other.d as string }, /do not match/)
    refused({ ...ec, x: other.x as string }, /cannot be read/)
    for (const source of [
      '',
      'PRIVATE KEY',
      '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
      {},
    ]) {
      refused(source, /cannot be read/)
    }
    for (const kty of ['EC', 'OKP', 'RSA', 'AKP', 'x', undefined, null]) {
      refused({ ...secret, kty: kty as string }, /cannot be read/)
    }
    const [first] = pairs
    assert.ok(first)
    const pem = first.privateKey.export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase: 'a',
    })
    refused(pem.toString(), /unencrypted/)
  })

  test('never shows a part of the key in an error', () => {
    const k = 'Zm9vYmFy'
    assert.throws(
      () => readKey({ kty: 'oct', k }),
      (error: Error) => !`${error.stack}${error.cause}`.includes(k) && !String(error).includes('foobar'),
    )
  })
})
