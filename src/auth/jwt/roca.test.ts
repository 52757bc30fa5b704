import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { isRoca } from './roca.ts'

// Wycheproof, json_web_key_test, tcId 7.
const n =
  'AanFpofbj7KjD4Lf-N2hVMKR7yewSyXhhbirIMTGpfYEhZ_lnt5UoK98DnKIgArXGTu3MaW_HhFw16HGaTDUHqPrId7fe4r11CqRw09yBFuW79V8sYIwHdzCaWflUI6auImYbVfoN9_nD5n8N8SY9DwXw7mwZM9wREPXoDPgOoIWl6q_MPsp7n0zs3Z5ZaiQWOOzl1S9OhwAfSiiOwz6efnXEaxuTEtPd7BjSx7NaFka8Dx9U7YqXy2RFj1O9PjyaDGuRh7YXsX3iMUSP_wSyHQg_c_qHRtKUsNSGCT7OZg0hzm2KphtjnayKJvC64vAbROBR4Ubg6Bxg9IQVZ-QYyE'

describe('isRoca', () => {
  test('knows the mark of the broken generator, and finds it on no other key', () => {
    assert.equal(isRoca(createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' })), true)
    assert.equal(isRoca(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey), false)
  })
})
