import assert from 'node:assert/strict'
import { createHmac, createSecretKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { decodeBase64url, mediaType, readHeader, signCompact, verifyClaims } from './compact.ts'

const secret = createSecretKey(Buffer.alloc(48, 1))
const header = { alg: 'HS256', typ: 'JWT' }

const encode = (value: string | Uint8Array) => Buffer.from(value).toString('base64url')
const parse = (header: unknown) => readHeader(`${encode(JSON.stringify(header))}.e30.AA`, 'JWT')

/** A token with any header and payload, and a correct MAC. */
function forge(header: object, payload = '{"a":1}', key: KeyObject | Buffer = secret): string {
  const input = `${encode(JSON.stringify(header))}.${encode(payload)}`
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
}

/** The claims of a token, as `JWTKeys` reads them. */
async function claimsOf(token: string, ...keys: KeyObject[]) {
  const header = readHeader(token, 'JWT')
  return (
    header &&
    verifyClaims(
      token,
      header,
      keys.map((verifying) => ({ kid: 'a', verifying })),
    )
  )
}

describe('readHeader', () => {
  test('returns `alg` and `kid`, and ignores unknown members (RFC 7515 §4)', () => {
    assert.deepEqual(parse({ x: [1], ...header, kid: 'a' }), { alg: 'HS256', kid: 'a' })
    assert.deepEqual(parse({ x: [1], ...header }), { alg: 'HS256', kid: undefined })
  })

  test('J1 J3 J7 rejects an `alg`, `typ` or `kid` that is not a string, and another `typ`', () => {
    for (const value of [null, 0, true, ['HS256'], { name: 'HS256' }]) {
      assert.equal(parse({ ...header, alg: value }), undefined)
      assert.equal(parse({ ...header, typ: value }), undefined)
      assert.equal(parse({ ...header, kid: value }), undefined)
    }
    for (const lacking of [{ alg: 'HS256' }, { typ: 'JWT' }]) assert.equal(parse(lacking), undefined)
    for (const typ of ['', 'at+jwt', 'JOSE', 'dpop+jwt', 'logout+jwt', 'text/jwt', 'JWT ', 'J'])
      assert.equal(parse({ alg: 'HS256', typ }), undefined)
  })

  test('J3 rejects extensions, compression and keys of the sender, with any value', () => {
    for (const name of ['crit', 'b64', 'zip', 'jwk', 'jku', 'x5c', 'x5u']) {
      for (const value of [null, true, false, '', 'DEF', [], ['b64'], { kty: 'oct' }, 'http://127.0.0.1/'])
        assert.equal(parse({ ...header, [name]: value }), undefined, `${name} ${JSON.stringify(value)}`)
    }
  })

  test('J11 accepts only strict JSON in UTF-8', () => {
    const read = (text: string | Buffer) => readHeader(`${encode(text)}.e30.AA`, 'JWT')
    assert.ok(read('\n{"typ" : "JWT",\t"alg":"HS256" }'))
    const bad = [
      '\uFEFF{"alg":"HS256","typ":"JWT"}',
      '{"alg":"none","alg":"HS256","typ":"JWT"}',
      '{"alg":"HS256","\\u0061lg":"HS256","typ":"JWT"}',
      `{"alg":"HS256","typ":"JWT","a":${'['.repeat(2000)}${']'.repeat(2000)}}`,
      ...['[]', '', '"HS256"', 'null'],
      Buffer.from('{"alg":"HS256","typ":"JWT","a":"\xff"}', 'latin1'),
    ]
    for (const text of bad) assert.equal(read(text), undefined, String(text))
  })

  test('J10 rejects more than 8,192 characters, other than three parts, and encrypted tokens', () => {
    const token = forge(header)
    const [head, payload, mac] = token.split('.')
    const longest = token + 'A'.repeat(8192 - token.length)
    assert.ok(readHeader(longest, 'JWT'))
    const jwe = encode(
      '{"alg":"PBES2-HS512+A256KW","enc":"A256GCM","p2c":2147483648,"zip":"DEF","typ":"JWT"}',
    )
    const bad = [
      ...[
        `${longest}A`,
        '',
        '.',
        'a',
        `${head}.${payload}`,
        `.${token}`,
        `${token}.`,
        `${head}..${payload}.${mac}`,
      ],
      ...[`${jwe}.AAAA.AAAA.${'A'.repeat(4000)}.AAAA`, `${jwe}....`, '.'.repeat(8192)],
    ]
    for (const each of bad) assert.equal(readHeader(each, 'JWT'), undefined, each.slice(0, 100))
    for (const none of [undefined, null, 5, {}, [token]])
      assert.equal(readHeader(none as unknown as string, 'JWT'), undefined)
  })
})

describe('verifyClaims', () => {
  test('tries all keys', async () => {
    const other = createSecretKey(Buffer.alloc(32))
    assert.deepEqual(await claimsOf(forge(header), other, secret), { a: 1 })
    assert.equal(await claimsOf(forge(header), other), undefined)
    assert.equal(await claimsOf(forge(header)), undefined)
  })

  test('J2 accepts no token whose MAC or algorithm does not fit the key', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = Buffer.from(publicKey.export({ type: 'spki', format: 'pem' }))
    for (const alg of ['HS256', 'HS512', 'ES256', 'RS256', 'EdDSA', 'none', ''])
      assert.equal(await claimsOf(forge({ ...header, alg }, '{}', pem), publicKey), undefined, alg)
  })

  test('rejects an ES256 signature in DER', async () => {
    const { publicKey, privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const input = `${encode('{"alg":"ES256","typ":"JWT"}')}.${encode('{"a":1}')}`
    const token = (dsaEncoding: 'der' | 'ieee-p1363') =>
      `${input}.${encode(sign('sha256', Buffer.from(input), { key, dsaEncoding }))}`
    assert.deepEqual(await claimsOf(token('ieee-p1363'), publicKey), { a: 1 })
    assert.equal(await claimsOf(token('der'), publicKey), undefined)
  })

  test('J4 rejects a token if any one character was changed', async () => {
    const token = forge(header)
    assert.deepEqual(await claimsOf(token, secret), { a: 1 })
    const characters = [
      ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
      ...'=+/. \n\0é',
      '',
    ]
    for (let i = 0; i < token.length; i += 1) {
      const edited = characters.flatMap((character) => [
        token.slice(0, i) + character + token.slice(i + 1),
        token.slice(0, i) + character + token.slice(i),
      ])
      const accepted = await Promise.all(
        edited.map(async (each) => each !== token && (await claimsOf(each, secret)) !== undefined),
      )
      assert.deepEqual(
        edited.filter((_, j) => accepted[j]),
        [],
      )
    }
  })

  test('J11 returns `undefined` for a payload that is not strict JSON', async () => {
    for (const text of ['', 'null', '[]', '5', '\uFEFF{}', '{"a":1,"a":2}', '{"a":1,"\\u0061":2}'])
      assert.equal(await claimsOf(forge(header, text), secret), undefined, text)
  })

  test('never throws for any input', async () => {
    // Any UTF-16 code unit.
    const unit = fc.nat(0xffff).map((code) => String.fromCharCode(code))
    const parts = fc.array(fc.base64String(), { size: '-1' }).map((all) => all.join('.'))
    const property = fc.asyncProperty(fc.oneof(fc.string({ unit }), parts), async (text) => {
      assert.equal(await claimsOf(text, secret), undefined)
      assert.equal(await claimsOf(`${encode(JSON.stringify(header))}.${text}`, secret), undefined)
    })
    await fc.assert(property, { numRuns: 500 })
  })
})

describe('signCompact', () => {
  test('writes the header and the payload', async () => {
    const token = await signCompact(Buffer.from('{"a":"ä"}'), { ...header, kid: 'a' }, secret)
    const parts = token.split('.').map((part) => Buffer.from(part, 'base64url').toString())
    assert.deepEqual(parts.slice(0, 2), ['{"alg":"HS256","typ":"JWT","kid":"a"}', '{"a":"ä"}'])
    assert.deepEqual(await claimsOf(token, secret), { a: 'ä' })
  })
})

describe('mediaType', () => {
  test('J7 is the same for every spelling of a type', () => {
    for (const typ of ['JWT', 'jwt', 'application/JWT', 'APPLICATION/jwt'])
      assert.equal(mediaType(typ), 'application/jwt')
    for (const typ of ['', 'at+jwt', 'text/jwt', 'JWT ', 'application/application/jwt'])
      assert.notEqual(mediaType(typ), 'application/jwt')
  })
})

describe('decodeBase64url', () => {
  test('decodes encoded bytes', () => {
    const property = fc.property(fc.uint8Array(), (bytes) => {
      assert.deepEqual(decodeBase64url(encode(bytes)), Buffer.from(bytes))
    })
    fc.assert(property)
  })

  test('J4 rejects padding, white space, the alphabet of base64, non-zero unused bits and impossible lengths', () => {
    const bad = 'AA== AAA= +_8 -/8 AB AAB A AAAAA AA. ÄÄ ŁŁ'.split(' ').concat('AA ', ' AA', 'A\nA', 'A A')
    for (const text of bad) assert.equal(decodeBase64url(text), undefined, JSON.stringify(text))
  })
})
