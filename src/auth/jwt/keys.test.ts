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

/** A token with any header, and a correct HS256 signature. */
function forge(header: object, secret: string): string {
  const input = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

async function kidsOf(...secrets: string[]): Promise<string[]> {
  const jwks = secrets.map((secret) => ({ kty: 'oct', k: Buffer.from(secret).toString('base64url') }))
  return Promise.all(jwks.map((jwk) => calculateJwkThumbprint(jwk)))
}

const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const pair = () => generateKeyPairSync('ed25519')
const jwkOf = ({ privateKey } = pair()) => privateKey.export({ format: 'jwk' })

describe('JWTKeys', () => {
  test('J7 signs the documented header and payload', async () => {
    const [kid] = await kidsOf(newer)
    const [header, payload] = decode(await keysOf([newer]).sign(sessionToken()))
    assert.deepEqual(JSON.parse(header ?? ''), { alg: 'HS256', typ: 'JWT', kid })
    assert.deepEqual(JSON.parse(payload ?? ''), claims)
  })

  test('S40 S94 verifies its tokens until 899 seconds after creation, but not at 900', async () => {
    let now = made * 1000 + 999
    const keys = keysOf([newer], { now: () => now })
    const creation = now
    const token = await keys.sign(new SessionToken(id, new Date(creation + 900_000)))
    for (const seconds of [0, 1, 899]) {
      now = creation + seconds * 1000
      assert.deepEqual(await keys.verify(token, SessionToken), sessionToken(), String(seconds))
    }
    for (const seconds of [-1, 900, 901]) {
      now = creation + seconds * 1000
      assert.equal(await keys.verify(token, SessionToken), undefined, String(seconds))
    }
  })

  test('F3 J12 signs with the first key, and verifies with each key until it is removed', async () => {
    const [before, during, after] = [keysOf([older]), keysOf([newer, older]), keysOf([newer])]
    const acceptedBy = async (token: string) => {
      const payloads = [before, during, after].map((keys) => keys.verify(token, SessionToken))
      return (await Promise.all(payloads)).map((payload) => payload !== undefined)
    }
    assert.deepEqual(await acceptedBy(await before.sign(sessionToken())), [true, true, false])
    assert.deepEqual(await acceptedBy(await during.sign(sessionToken())), [false, true, true])
  })

  test('J12 rotates from one kind of key pair to another', async () => {
    const ec = pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
    const ed = jwkOf()
    const old = new JWTKeys({ keys: [ed], ...names })
    const both = new JWTKeys({ keys: [ec, ed], ...names })
    assert.ok(await both.verify(await old.sign(new SessionToken(id)), SessionToken))
    assert.equal(await old.verify(await both.sign(new SessionToken(id)), SessionToken), undefined)
  })

  test('verifies with public keys but cannot sign with them', async () => {
    const jwk = jwkOf()
    const { d: _, ...publicHalf } = jwk
    const signing = new JWTKeys({ keys: [jwk], ...names })
    const verifying = new JWTKeys({ keys: [publicHalf], ...names })
    assert.ok(await verifying.verify(await signing.sign(new SessionToken(id)), SessionToken))
    await assert.rejects(verifying.sign(new SessionToken(id)), {
      code: 'ERR_AUTH_MISUSE',
      message: /can only verify/,
    })
  })

  test('writes the `kid` of a JWK into the header, and accepts it', async () => {
    const keys = new JWTKeys({ keys: [{ ...jwkOf(), kid: 'a' }, jwkOf()], ...names })
    const token = await keys.sign(new SessionToken(id))
    assert.equal(JSON.parse(decode(token)[0] ?? '').kid, 'a')
    assert.ok(await keys.verify(token, SessionToken))
  })

  test('throws for a lifetime that is too long or not a number', async () => {
    for (const expiration of [new Date((made + 901) * 1000), new Date(Number.NaN)]) {
      await assert.rejects(keysOf([newer]).sign(new SessionToken(id, expiration)), {
        code: 'ERR_AUTH_MISUSE',
      })
    }
  })

  test('throws if the token would not verify as the class of its payload', async () => {
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
    await assert.rejects(keys.sign(new SessionToken('usr_42', expiration)), {
      code: 'ERR_AUTH_MISUSE',
      message: /`SessionToken\.parse` must accept its claims/,
    })
    for (const Wrong of [Deep, Plain, Long])
      await assert.rejects(keys.sign(new Wrong(id, expiration)), { code: 'ERR_AUTH_MISUSE' })
  })

  test('J3 selects the key by `kid`, and tries all keys of the algorithm for a token without `kid`', async () => {
    const keys = keysOf([newer, older])
    const kids = await kidsOf(newer, older)
    const accepts = async (header: object, secret = newer) => {
      const token = forge({ alg: 'HS256', typ: 'JWT', ...header }, secret)
      return (await keys.verify(token, SessionToken)) !== undefined
    }
    assert.equal(await accepts({}), true)
    assert.equal(await accepts({}, older), true)
    assert.equal(await accepts({}, unknown), false)
    assert.equal(await accepts({ kid: kids[0] }), true)
    assert.equal(await accepts({ kid: kids[1] }), false)
  })

  test('J5 rejects an empty list, a weak key, a duplicate key, and secrets mixed with key pairs', async () => {
    const jwk = jwkOf()
    const cases: [Partial<JWTKeysOptions>, RegExp][] = [
      [{ secrets: [] }, /need a key/],
      [{ secrets: [undefined as never] }, /text or bytes, but this one is undefined/],
      [{ secrets: [newer, 'short'] }, /32 bytes or more; this one has 5/],
      [{ secrets: [newer, older, newer] }, /same key is listed twice/],
      [{ secrets: [], keys: [jwk, jwk] }, /same key is listed twice/],
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
