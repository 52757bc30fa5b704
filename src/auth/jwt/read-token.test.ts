import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { JWTKeys, type JWTKeysOptions, SessionToken } from './index.ts'

const id = '0190163d-8694-739b-aea5-966c26f8ad91'
const made = 1_800_000_000
const secret = 's'.repeat(32)
const header = { alg: 'HS256', typ: 'JWT' }
const claims = { userId: id, iat: made, exp: made + 900, iss: 'https://site', aud: 'https://api' }

const encode = (value: unknown) =>
  Buffer.from(
    typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value),
  ).toString('base64url')

/** A token with any header and payload, and a correct MAC. */
function forge(header: unknown, payload: unknown = claims, key: string | Buffer = secret): string {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
}

/** Whether new keys accept a token this many seconds after it was issued. */
async function isGood(token: string, seconds = 0, options: Partial<JWTKeysOptions> = {}): Promise<boolean> {
  const now = () => (made + seconds) * 1000
  const keys = new JWTKeys({ secrets: [secret], issuer: claims.iss, audience: claims.aud, now, ...options })
  return (await keys.verify(token, SessionToken)) !== undefined
}

const isGoodHeader = (more: object) => isGood(forge({ ...header, ...more }))
const isGoodPayload = (more: object, seconds = 0, leeway = 0) =>
  isGood(forge(header, { ...claims, ...more }), seconds, { leeway })

describe('JWTKeys.verify', () => {
  test('J1 rejects every other algorithm in any spelling, with or without a signature', async () => {
    assert.equal(await isGoodHeader({ x: [1] }), true, 'unknown members are ignored')
    const names = ['none', 'None', 'NONE', '', ' ', 'hs256', 'HS256 ', 'HS512', 'RS256', 'ES256', 'EdDSA']
    for (const alg of [...names, ['HS256'], [], null, 0, true, {}, undefined]) {
      const token = forge({ ...header, alg })
      for (const each of [token, token.replace(/[^.]+$/, '')])
        assert.equal(await isGood(each), false, JSON.stringify(alg))
    }
  })

  test('J2 rejects a MAC whose secret is the public key, in many encodings', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const keys = [privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()]
    const jwk = publicKey.export({ format: 'jwk' })
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const der = publicKey.export({ type: 'spki', format: 'der' })
    const [x, y] = [jwk.x, jwk.y].map((each) => Buffer.from(each ?? '', 'base64url'))
    const point = Buffer.concat([Buffer.from([4]), x ?? '', y ?? ''] as Buffer[])
    const forms = [pem, pem.trim(), pem.replaceAll('\n', '\r\n'), pem.replaceAll(/-----.*-----|\n/g, ''), der]
    for (const form of [
      ...forms,
      der.toString('hex'),
      der.toString('base64url'),
      JSON.stringify(jwk),
      point,
    ]) {
      for (const alg of ['HS256', 'ES256']) {
        const token = forge({ ...header, alg }, claims, Buffer.from(form))
        assert.equal(await isGood(token, 0, { secrets: [], keys }), false, `${alg} ${form}`)
      }
    }
  })

  test('J3 rejects extensions, compression and keys of the sender, with any value', async () => {
    for (const name of ['crit', 'b64', 'zip', 'jwk', 'jku', 'x5c', 'x5u']) {
      for (const value of [null, false, '', 'DEF', [], ['b64'], { kty: 'oct' }, 'http://127.0.0.1/'])
        assert.equal(await isGoodHeader({ [name]: value }), false, `${name} ${JSON.stringify(value)}`)
    }
  })

  test('J3 rejects a `kid` that is unknown or not a string', async () => {
    const names = [
      '',
      '*',
      '__proto__',
      '../../dev/null',
      'file:///etc/passwd',
      "x' UNION SELECT 'a'--",
      '\0',
    ]
    for (const kid of [...names, 'k'.repeat(4096), 0, true, null, [], {}, { $ne: null }])
      assert.equal(await isGoodHeader({ kid }), false, JSON.stringify(kid))
  })

  test('J4 rejects a token if any one character was changed', async () => {
    const token = forge(header)
    assert.equal(await isGood(token), true)
    const keys = new JWTKeys({
      secrets: [secret],
      issuer: claims.iss,
      audience: claims.aud,
      now: () => made * 1000,
    })
    const characters = ['', ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/. \n\0é']
    for (let i = 0; i < token.length; i += 1) {
      const edited = characters.flatMap((character) => [
        token.slice(0, i) + character + token.slice(i + 1),
        token.slice(0, i) + character + token.slice(i),
      ])
      for (const each of edited)
        if (each !== token) assert.equal(await keys.verify(each, SessionToken), undefined, each)
    }
  })

  test('J6 accepts a token from `iat` and `nbf` until just before `exp`, with a leeway of at most 60 seconds', async () => {
    for (const seconds of [0, 0.001, 899.999]) assert.equal(await isGoodPayload({}, seconds), true)
    for (const seconds of [-1, -0.001, 900, 900.001, 1e9])
      assert.equal(await isGoodPayload({}, seconds), false, String(seconds))
    for (const seconds of [-60, 959]) assert.equal(await isGoodPayload({}, seconds, 60), true)
    for (const seconds of [-61, 960]) assert.equal(await isGoodPayload({}, seconds, 60), false)
    for (const nbf of [made, 0, -1]) assert.equal(await isGoodPayload({ nbf }), true, String(nbf))
    assert.equal(await isGoodPayload({ nbf: made + 60 }, 0, 60), true)
    assert.equal(await isGoodPayload({ nbf: made + 61 }, 0, 60), false)
    assert.equal(await isGoodPayload({ exp: made + 0.5, iat: made - 0.5 }, 0.5), false)
    assert.equal(await isGoodPayload({ exp: made + 901 }, 0, 60), false, 'the lifetime has no leeway')
    for (const leeway of [-1, 61, Number.NaN, '30' as never])
      await assert.rejects(isGoodPayload({}, 0, leeway), {
        code: 'ERR_AUTH_MISUSE',
        message: /0 to 60 seconds/,
      })
  })

  test('J6 requires `exp` and `iat`, and accepts only finite numbers as dates', async () => {
    for (const value of [null, String(made), '', true, [made], {}, 1e300]) {
      for (const name of ['exp', 'iat', 'nbf'])
        assert.equal(await isGoodPayload({ [name]: value }), false, `${name} ${JSON.stringify(value)}`)
    }
    for (const name of ['exp', 'iat']) assert.equal(await isGoodPayload({ [name]: undefined }), false, name)
    for (const wrong of ['"exp":1e999', '"iat":-1e999', '"exp":1e999,"iat":1e999'])
      assert.equal(
        await isGood(forge(header, JSON.stringify(claims).replace(/"iat":.*?,"exp":\d+/, wrong))),
        false,
      )
  })

  test('J7 requires the configured issuer, audience and `typ`', async () => {
    for (const iss of [undefined, null, '', 'https://site/', 'HTTPS://SITE', ['https://site'], 0])
      assert.equal(await isGoodPayload({ iss }), false, JSON.stringify(iss))
    assert.equal(await isGoodPayload({ aud: ['a', 'https://api'] }), true)
    for (const aud of [
      undefined,
      null,
      '',
      'https://ap',
      [],
      ['a'],
      [['https://api']],
      ['https://api', 1],
      {},
    ])
      assert.equal(await isGoodPayload({ aud }), false, JSON.stringify(aud))
    for (const typ of ['jwt', 'application/JWT', 'APPLICATION/jwt'])
      assert.equal(await isGoodHeader({ typ }), true, typ)
    for (const typ of [
      '',
      'at+jwt',
      'text/jwt',
      'JWT ',
      'application/application/jwt',
      null,
      ['JWT'],
      undefined,
    ])
      assert.equal(await isGoodHeader({ typ }), false, JSON.stringify(typ))
    for (const wrong of [{ issuer: '' }, { audience: '' }])
      await assert.rejects(isGood(forge(header), 0, wrong), { message: /`issuer` and an `audience`/ })
  })

  test('J10 rejects more than 8,192 characters, other than three parts, and encrypted tokens', async () => {
    const token = forge(header)
    const [head, payload, mac] = token.split('.')
    const jwe = encode({ alg: 'PBES2-HS512+A256KW', enc: 'A256GCM', p2c: 2 ** 31, zip: 'DEF', typ: 'JWT' })
    const parts = ['', '.', 'a', `${head}.${payload}`, `.${token}`, `${token}.`, `${head}..${payload}.${mac}`]
    const bad = [...parts, `${jwe}.AAAA.AAAA.${'A'.repeat(4000)}.AAAA`, `${jwe}....`, '.'.repeat(8192)]
    for (const each of bad) assert.equal(await isGood(each), false, each.slice(0, 100))
    assert.equal(await isGoodPayload({ more: 'x'.repeat(5000) }), true)
    assert.equal(await isGoodPayload({ more: 'x'.repeat(7000) }), false)
    for (const none of [undefined, null, 5, {}, [token]]) assert.equal(await isGood(none as never), false)
  })

  test('J11 accepts only strict JSON in UTF-8', async () => {
    const deep = `"deep":${'['.repeat(2000)}${']'.repeat(2000)}`
    for (const text of [JSON.stringify(header), JSON.stringify(claims)]) {
      const token = (part: string | Buffer) => ('alg' in JSON.parse(text) ? forge(part) : forge(header, part))
      assert.equal(await isGood(token(text.replace('{', '\n{ '))), true)
      const [, name = ''] = text.match(/"(\w+)"/) ?? []
      const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`
      const members = [`"${name}":1`, `"${escaped}":1`, deep].map((each) => text.replace('{', `{${each},`))
      const latin1 = Buffer.from(text.replace('{', '{"a":"\xff",'), 'latin1')
      for (const bad of ['', 'null', '[]', '5', `[${text}]`, `\uFEFF${text}`, latin1, ...members])
        assert.equal(await isGood(token(bad)), false, String(bad).slice(0, 100))
    }
  })

  test('N11 rejects every token while the clock returns NaN', async () => {
    assert.equal(await isGood(forge(header), Number.NaN), false)
  })

  test('never throws for any input', async () => {
    // Any UTF-16 code unit.
    const unit = fc.nat(0xffff).map((code) => String.fromCharCode(code))
    const parts = fc.array(fc.base64String(), { size: '-1' }).map((all) => all.join('.'))
    const property = fc.asyncProperty(fc.oneof(fc.string({ unit }), parts), async (text) => {
      assert.equal(await isGood(text), false)
      assert.equal(await isGood(`${encode(header)}.${text}`), false)
    })
    await fc.assert(property, { numRuns: 200 })
  })
})
