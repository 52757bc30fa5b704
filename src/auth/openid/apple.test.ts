import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { jwtVerify } from 'jose'
import { appleClientSecret } from './apple.ts'

test('appleClientSecret signs a token of five minutes with the key of the team', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const secret = appleClientSecret({ clientId: 'com.example', teamId: 'TEAM', keyId: 'KEY', privateKey: pem })
  const { payload, protectedHeader } = await jwtVerify(await secret(), createPublicKey(privateKey), {
    audience: 'https://appleid.apple.com',
    issuer: 'TEAM',
    subject: 'com.example',
  })
  assert.deepEqual(protectedHeader, { alg: 'ES256', kid: 'KEY' })
  assert.equal(Number(payload.exp) - Number(payload.iat), 300)
})
