import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import { calculateJwkThumbprint } from 'jose'
import { JWTKeys, type JWTKeysOptions, SessionToken } from './index.ts'

const id = '0190163d-8694-739b-aea5-966c26f8ad91'
const made = 1_800_000_000
const names = { issuer: 'https://site', audience: 'https://api' }
const [older, newer, unknown] = ['a', 'b', 'c'].map((letter) => letter.repeat(32)) as [string, string, string]

const keysOf = (secrets: string[], options: Partial<JWTKeysOptions> = {}) =>
  new JWTKeys({ secrets, ...names, now: () => made * 1000, ...options })
const sessionToken = (seconds = 900) => new SessionToken(id, new Date((made + seconds) * 1000))
const decode = (token: string) =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => Buffer.from(part, 'base64url').toString())

const claims = { userId: id, exp: made + 900, iat: made, iss: names.issuer, aud: names.audience }

/** A token with any header and payload, and a correct HS256 signature. */
function forge(header: object | string, payload: object | string = claims, secret = newer): string {
  const parts = [header, payload].map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
  const input = parts.map((part) => Buffer.from(part).toString('base64url')).join('.')
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const pair = () => generateKeyPairSync('ed25519')
const jwkOf = ({ privateKey } = pair()) => privateKey.export({ format: 'jwk' })

describe('JWTKeys', () => {
  test('J7 signs the documented header and payload', async () => {
    const kid = await calculateJwkThumbprint({ kty: 'oct', k: Buffer.from(newer).toString('base64url') })
    const [header, payload] = decode(keysOf([newer]).sign(sessionToken()))
    assert.deepEqual(JSON.parse(header ?? ''), { alg: 'HS256', typ: 'JWT', kid })
    assert.deepEqual(JSON.parse(payload ?? ''), claims)
  })

  test('S40 S94 verifies its tokens until 899 seconds after creation, but not at 900', () => {
    let now = made * 1000 + 999
    const keys = keysOf([newer], { now: () => now })
    const creation = now
    const token = keys.sign(new SessionToken(id, new Date(creation + 900_000)))
    for (const seconds of [0, 1, 899]) {
      now = creation + seconds * 1000
      assert.deepEqual(keys.verify(token, SessionToken), sessionToken(), String(seconds))
    }
    for (const seconds of [-1, 900, 901]) {
      now = creation + seconds * 1000
      assert.equal(keys.verify(token, SessionToken), undefined, String(seconds))
    }
  })

  test('accepts a leeway of up to 60 seconds', () => {
    const token = keysOf([newer]).sign(sessionToken())
    const at = (seconds: number) =>
      keysOf([newer], { leeway: 60, now: () => (made + seconds) * 1000 }).verify(token, SessionToken)
    assert.deepEqual(
      [-61, -60, 959, 960].map((seconds) => at(seconds) !== undefined),
      [false, true, true, false],
    )
    for (const leeway of [-1, 61, Number.NaN, Infinity, '30' as never]) {
      assert.throws(() => keysOf([newer], { leeway }), {
        code: 'ERR_AUTH_MISUSE',
        message: /0 to 60 seconds/,
      })
    }
  })

  test('F3 J12 signs with the first key, and verifies with each key until it is removed', () => {
    const before = keysOf([older])
    const during = keysOf([newer, older])
    const after = keysOf([newer])
    const old = before.sign(sessionToken())
    const fresh = during.sign(sessionToken())
    assert.deepEqual(
      [before, during, after].map((keys) => keys.verify(old, SessionToken) !== undefined),
      [true, true, false],
    )
    assert.deepEqual(
      [before, during, after].map((keys) => keys.verify(fresh, SessionToken) !== undefined),
      [false, true, true],
    )
  })

  test('J12 rotates from one kind of key pair to another', () => {
    const ec = pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
    const ed = jwkOf()
    const old = new JWTKeys({ keys: [ed], ...names })
    const both = new JWTKeys({ keys: [ec, ed], ...names })
    assert.ok(both.verify(old.sign(new SessionToken(id)), SessionToken))
    assert.equal(old.verify(both.sign(new SessionToken(id)), SessionToken), undefined)
  })

  test('verifies with public keys but cannot sign with them', () => {
    const jwk = jwkOf()
    const { d: _, ...publicHalf } = jwk
    const signing = new JWTKeys({ keys: [jwk], ...names })
    const verifying = new JWTKeys({ keys: [publicHalf], ...names })
    assert.ok(verifying.verify(signing.sign(new SessionToken(id)), SessionToken))
    assert.throws(() => verifying.sign(new SessionToken(id)), {
      code: 'ERR_AUTH_MISUSE',
      message: /can only verify/,
    })
  })

  test('throws for a lifetime that is too long or not a number', () => {
    for (const expiration of [new Date((made + 901) * 1000), new Date(Number.NaN)]) {
      assert.throws(() => keysOf([newer]).sign(new SessionToken(id, expiration)), { code: 'ERR_AUTH_MISUSE' })
    }
  })

  test('throws if the token would not verify as the class of its payload', () => {
    class Long extends SessionToken {
      readonly text = 'x'.repeat(8192)
      static override parse(_claims: object, expiration: Date) {
        return new Long(id, expiration)
      }
    }
    class Deep extends SessionToken {
      readonly nested = JSON.parse('['.repeat(40) + ']'.repeat(40))
    }
    class Plain extends SessionToken {
      static override parse(claims: object) {
        return { ...claims } as Plain
      }
    }
    const keys = keysOf([newer])
    const expiration = new Date((made + 900) * 1000)
    assert.throws(() => keys.sign(new SessionToken('usr_42', expiration)), {
      code: 'ERR_AUTH_MISUSE',
      message: /`SessionToken\.parse` does not return a SessionToken for {"userId":"usr_42"}\./,
    })
    for (const Wrong of [Deep, Plain])
      assert.throws(() => keys.sign(new Wrong(id, expiration)), {
        message: /does not return a (Deep|Plain) for/,
      })
    assert.throws(() => keys.sign(new Long(id, expiration)), {
      code: 'ERR_AUTH_MISUSE',
      message: /at most 8192 characters/,
    })
  })

  test('uses the algorithm of its keys, never that of the token', () => {
    const keys = keysOf([newer])
    const [kid] = [newer].map(
      (secret) => JSON.parse(decode(keysOf([secret]).sign(sessionToken()))[0] ?? '').kid,
    )
    assert.ok(keys.verify(forge({ alg: 'HS256', typ: 'JWT', kid }), SessionToken))
    const wrong = [
      'none',
      'None',
      'NONE',
      '',
      'hs256',
      'HS512',
      'RS256',
      'EdDSA',
      ['HS256'],
      null,
      0,
      undefined,
    ]
    for (const alg of wrong) {
      for (const header of [
        { alg, typ: 'JWT', kid },
        { alg, typ: 'JWT' },
      ]) {
        const token = forge(header)
        assert.equal(keys.verify(token, SessionToken), undefined, JSON.stringify(header))
        assert.equal(keys.verify(token.replace(/[^.]+$/, ''), SessionToken), undefined)
      }
    }
    const jwk = jwkOf()
    const publicKey = Buffer.from(jwk.x ?? '', 'base64url').toString('latin1')
    const forged = forge({ alg: 'HS256', typ: 'JWT' }, claims, publicKey)
    assert.equal(keysOf([], { keys: [jwk] }).verify(forged, SessionToken), undefined)
  })

  test('J3 selects the key by `kid`, and tries all keys of the algorithm for a token without `kid`', () => {
    const keys = keysOf([newer, older])
    const kids = [newer, older].map(
      (secret) => JSON.parse(decode(keysOf([secret]).sign(sessionToken()))[0] ?? '').kid,
    )
    const accepts = (header: object, secret = newer) =>
      keys.verify(forge({ alg: 'HS256', typ: 'JWT', ...header }, claims, secret), SessionToken) !== undefined
    assert.equal(accepts({}), true)
    assert.equal(accepts({}, older), true)
    assert.equal(accepts({}, unknown), false)
    assert.equal(accepts({ kid: kids[0] }), true)
    assert.equal(accepts({ kid: kids[1] }), false)
    const tricks = [
      ...[
        '',
        ' ',
        '0',
        '*',
        'null',
        'undefined',
        '__proto__',
        'constructor',
        'toString',
        '/dev/null',
        '../../../../dev/null',
      ],
      ...[
        'file:///etc/passwd',
        'http://127.0.0.1/jwks',
        "x' UNION SELECT 'a'--",
        '|/usr/bin/id',
        'k'.repeat(4096),
        `${kids[0]}\0`,
      ],
      ...[0, 1, true, null, [], [kids[0]], {}, { $ne: null }, { kid: kids[0] }],
    ]
    for (const kid of tricks) assert.equal(accepts({ kid }), false, JSON.stringify(kid))
  })

  test('J7 requires the type `JWT` in the header, in upper or lower case, with or without `application/`', () => {
    const keys = keysOf([newer])
    SessionToken.authenticator(keys)
    const accepts = (typ: unknown) => keys.verify(forge({ alg: 'HS256', typ }), SessionToken) !== undefined
    for (const typ of ['JWT', 'jwt', 'application/jwt', 'application/JWT'])
      assert.equal(accepts(typ), true, typ)
    const others = [
      '',
      'at+jwt',
      'JOSE',
      'dpop+jwt',
      'logout+jwt',
      'secevent+jwt',
      'id_token+jwt',
      'text/jwt',
      'JWT ',
      'J',
    ]
    for (const typ of [...others, undefined, null, 0, ['JWT'], { typ: 'JWT' }])
      assert.equal(accepts(typ), false, JSON.stringify(typ))
  })

  test('J7 J11 rejects tokens of another issuer or audience, and malformed tokens', () => {
    const keys = keysOf([newer])
    const header = { alg: 'HS256', typ: 'JWT' }
    const text = JSON.stringify(claims)
    assert.ok(keys.verify(forge(header, text), SessionToken))
    const wrong = [
      ...[
        { ...claims, iss: 'https://other' },
        { ...claims, aud: 'https://other' },
        { ...claims, exp: undefined },
        { ...claims, iat: undefined },
      ],
      ...[
        { ...claims, userId: { $ne: null } },
        { ...claims, userId: [id] },
        { sub: id, ...claims, userId: undefined },
      ],
      ...[
        '',
        'null',
        '[]',
        '{}',
        id,
        `[${text}]`,
        `\uFEFF${text}`,
        text.replace('{', '{"exp":1,'),
        text.replace('{', '{"\\u0069ss":"x",'),
      ],
      text.replace('{', `{"deep":${'['.repeat(2000)}${']'.repeat(2000)},`),
    ]
    for (const payload of wrong)
      assert.equal(keys.verify(forge(header, payload), SessionToken), undefined, JSON.stringify(payload))
  })

  test('J7 requires an issuer and an audience', () => {
    for (const wrong of [{ issuer: '' }, { audience: '' }]) {
      assert.throws(() => keysOf([newer], wrong), {
        code: 'ERR_AUTH_MISUSE',
        message: /`issuer` and an `audience`/,
      })
    }
  })

  test('J5 rejects an empty list, a weak key, a duplicate key, and secrets mixed with key pairs', () => {
    const jwk = jwkOf()
    const cases: [Partial<JWTKeysOptions>, RegExp][] = [
      [{ secrets: [] }, /need a key/],
      [{ secrets: [undefined as never] }, /text or bytes, but this one is undefined/],
      [{ secrets: newer as never }, /as lists/],
      [{ secrets: [], keys: jwk as never }, /as lists/],
      [{ secrets: [newer, 'short'] }, /32 bytes or more; this one has 5/],
      [{ secrets: [newer, older, newer] }, /same key is listed twice/],
      [{ secrets: [], keys: [jwk, { ...jwk, kid: 'other' }] }, /same key is listed twice/],
      [
        {
          secrets: [],
          keys: [
            { ...jwk, kid: 'a' },
            { ...jwkOf(), kid: 'a' },
          ],
        },
        /same `kid`/,
      ],
      [{ secrets: [newer], keys: [jwk] }, /cannot be mixed/],
      [
        { secrets: [], keys: [jwk, { kty: 'oct', k: Buffer.from(newer).toString('base64url') }] },
        /cannot be mixed/,
      ],
    ]
    for (const [options, message] of cases) {
      assert.throws(() => keysOf([], options), { name: 'JWTKeyError', code: 'ERR_AUTH_JWT_KEY', message })
    }
  })
})
