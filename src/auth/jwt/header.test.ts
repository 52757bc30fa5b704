import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeHeader, mediaType, parseHeader } from './header.ts'

const encode = (text: string | Buffer) => Buffer.from(text).toString('base64url')
const parse = (header: unknown) => parseHeader(encode(JSON.stringify(header)))

describe('parseHeader', () => {
  test('reads what encodeHeader wrote', () => {
    const header = { alg: 'HS256', typ: 'JWT', kid: 'a' }
    assert.deepEqual(parseHeader(encodeHeader(header)), header)
    assert.equal(
      Buffer.from(encodeHeader(header), 'base64url').toString(),
      '{"alg":"HS256","typ":"JWT","kid":"a"}',
    )
  })

  test('ignores members that mean nothing to us (RFC 7515 §4)', () => {
    assert.deepEqual(parse({ x: [1], alg: 'HS256' }), { alg: 'HS256', typ: undefined, kid: undefined })
  })

  test('refuses an `alg` that is missing or no string', () => {
    for (const alg of [undefined, null, 0, true, ['HS256'], { name: 'HS256' }])
      assert.equal(parse({ alg }), undefined)
  })

  test('refuses a `typ` or `kid` that is no string', () => {
    for (const value of [null, 0, false, ['JWT'], { a: 1 }]) {
      assert.equal(parse({ alg: 'HS256', typ: value }), undefined)
      assert.equal(parse({ alg: 'HS256', kid: value }), undefined)
    }
  })

  test('refuses extensions, zipped content and keys that the sender brings along, whatever they say', () => {
    for (const name of ['crit', 'b64', 'zip', 'jwk', 'jku', 'x5c', 'x5u']) {
      for (const value of [
        null,
        true,
        false,
        '',
        'DEF',
        [],
        ['exp'],
        ['b64'],
        { kty: 'oct', k: '' },
        'http://127.0.0.1/',
      ]) {
        assert.equal(parse({ alg: 'HS256', [name]: value }), undefined, `${name} ${JSON.stringify(value)}`)
      }
    }
  })

  test('refuses what is not strict JSON in strict base64url', () => {
    const good = '{"alg":"HS256"}'
    assert.ok(parseHeader(encode(good)))
    const bad = [
      '\uFEFF{"alg":"HS256"}',
      '{"alg":"none","alg":"HS256"}',
      '{"alg":"HS256","\\u0061lg":"HS256"}',
      '[]',
      '',
      '"HS256"',
    ]
    for (const text of bad) assert.equal(parseHeader(encode(text)), undefined, text)
    assert.equal(parseHeader(encode(Buffer.from('{"alg":"HS256","a":"\xff"}', 'latin1'))), undefined)
    assert.equal(parseHeader(encode(`{"alg":"HS256","a":${'['.repeat(3000)}${']'.repeat(3000)}}`)), undefined)
    for (const text of [`${encode(good)}=`, ` ${encode(good)}`, `${encode(good)}\n`])
      assert.equal(parseHeader(text), undefined)
  })
})

describe('mediaType', () => {
  test('is the same for every way to write it', () => {
    for (const typ of ['JWT', 'jwt', 'Jwt', 'application/JWT', 'APPLICATION/jwt'])
      assert.equal(mediaType(typ), 'application/jwt')
    for (const typ of ['', 'at+jwt', 'text/jwt', 'JWT ', 'application/application/jwt']) {
      assert.notEqual(mediaType(typ), 'application/jwt')
    }
  })
})
