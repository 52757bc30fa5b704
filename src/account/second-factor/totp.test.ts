import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { base32 } from './base32.ts'
import { acceptedStep, hotp, stepAt, totpUri } from './totp.ts'

const key = Buffer.from('12345678901234567890')

describe('base32', () => {
  test('encodes the vectors of RFC 4648 §10, without padding', () => {
    const vectors = { '': '', f: 'MY', fo: 'MZXQ', foo: 'MZXW6', foob: 'MZXW6YQ', fooba: 'MZXW6YTB' }
    for (const [text, expected] of Object.entries(vectors)) assert.equal(base32(Buffer.from(text)), expected)
    assert.equal(base32(Buffer.from('foobar')), 'MZXW6YTBOI')
  })
})

describe('hotp', () => {
  test('computes the vectors of RFC 4226, appendix D', () => {
    const vectors = '755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' ')
    for (const [counter, code] of vectors.entries()) assert.equal(hotp(key, counter), code)
  })

  test('computes the SHA-1 vectors of RFC 6238, appendix B, with six digits', () => {
    const vectors: [number, string][] = [
      [59, '94287082'],
      [1111111109, '07081804'],
      [1111111111, '14050471'],
      [1234567890, '89005924'],
      [2000000000, '69279037'],
      [20000000000, '65353130'],
    ]
    for (const [seconds, code] of vectors) assert.equal(hotp(key, stepAt(seconds * 1000)), code.slice(2))
  })
})

describe('acceptedStep', () => {
  const now = 1_234_567_890_000
  const current = stepAt(now)
  const accept = (code: string, lastStep = 0) => acceptedStep(key, code, { lastStep, now })

  test('accepts the codes of the current step and of its neighbours', () => {
    for (const step of [current - 1, current, current + 1]) assert.equal(accept(hotp(key, step)), step)
    for (const step of [current - 2, current + 2]) assert.equal(accept(hotp(key, step)), undefined)
  })

  test('rejects the last accepted step and earlier ones', () => {
    assert.equal(accept(hotp(key, current), current), undefined)
    assert.equal(accept(hotp(key, current - 1), current), undefined)
    assert.equal(accept(hotp(key, current + 1), current), current + 1)
  })

  test('T2 rejects everything but six ASCII digits', () => {
    const code = hotp(key, current)
    const wide = code.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
    for (const typed of ['', code.slice(1), `${code}0`, ` ${code}`, `${code}\n`, wide, '12345x', '1e5000'])
      assert.equal(accept(typed), undefined)
  })
})

describe('totpUri', () => {
  test('encodes the issuer and the account', () => {
    const uri = totpUri(key, { issuer: 'Ada & Co', account: 'ada+1@example.com' })
    assert.equal(
      uri,
      'otpauth://totp/Ada%20%26%20Co:ada%2B1%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Ada%20%26%20Co&algorithm=SHA1&digits=6&period=30',
    )
  })

  test('has one colon in its label, because apps refuse two', () => {
    const uri = totpUri(key, { issuer: 'Acme: Shop', account: 'ada@example.com' })
    assert.match(uri, /^otpauth:\/\/totp\/Acme%20Shop:ada%40example\.com\?.*&issuer=Acme%20Shop&/)
  })
})
