import assert from 'node:assert/strict'
import {
  createHmac,
  createSecretKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign,
} from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  decodeBase64url,
  mediaType,
  openCompact,
  parseHeader,
  signCompact,
  verifyCompact,
} from './compact.ts'
import { JWTKey } from './key.ts'

const all = ['HS256', 'ES256', 'EdDSA', 'RS256']
const pairs = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
}
const secret = createSecretKey(Buffer.alloc(48, 1))
const jwks: Record<string, JsonWebKey> = {
  HS256: secret.export({ format: 'jwk' }),
  ES256: pairs.ES256.publicKey.export({ format: 'jwk' }),
  EdDSA: pairs.EdDSA.publicKey.export({ format: 'jwk' }),
  RS256: pairs.RS256.publicKey.export({ format: 'jwk' }),
}

// Any UTF-16 code unit.
const anyUnit = fc.nat(0xffff).map((code) => String.fromCharCode(code))

const encode = (value: string | Uint8Array) => Buffer.from(value).toString('base64url')
const parse = (header: unknown) => parseHeader(encode(JSON.stringify(header)))

/** A token with any header and payload, and a correct MAC. */
function forge(header: unknown, payload = 'foo', key: KeyObject | Buffer = secret): string {
  const input = `${encode(typeof header === 'string' ? header : JSON.stringify(header))}.${encode(payload)}`
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
}

function tokenOf(alg: keyof typeof pairs): string {
  return signCompact({ a: 1 }, 'JWT', new JWTKey(pairs[alg].privateKey))
}

const payloadOf = (token: string, jwk = jwks.HS256 ?? {}, algorithms = all) => {
  const payload = verifyCompact(token, jwk, algorithms)
  return payload && Buffer.from(payload).toString()
}

describe('verifyCompact', () => {
  test('returns the payloads of test vectors from Wycheproof and RFC 8037', () => {
    // json_web_signature_test, tcId 1, 18 and 33; RFC 8037, appendix A.4.
    const vectors: [JsonWebKey, string, string][] = [
      [
        { kty: 'oct', alg: 'HS256', use: 'sig', k: '-ebuDNsVZ2iJtoZ-akfXTSCt4UO2cruLCsbWlBinggE' },
        'eyJhbGciOiJIUzI1NiIsImtpZCI6ImtpZC1hZXMtc2lnbiJ9.Zm9v.TD37p4c_0jmreSrBSDmE0F3mYSPtkZ3WrSyI5wb_KTg',
        'foo',
      ],
      [
        {
          ...{ kty: 'EC', alg: 'ES256', use: 'sig', crv: 'P-256' },
          x: '04N0xi21hshyvBp7I167sbE_bXqyqkAPfefdklMO7wY',
          y: 'UI8exy-C06a7DUnjIdENkxeFtHM4-l_41LqEw9nVgmw',
        },
        'eyJhbGciOiJFUzI1NiIsImtpZCI6ImtpZC1lYy1zaWduIn0.Zm9v.5cA0OHyMP7ezamUd5c9kV-FrGxdx4hbGXOdplQkutrqWrte5P-pAvsE3Ve6xSyU3YDQwUHjVVOtvcrEbbnZ8yA',
        'foo',
      ],
      [
        {
          ...{ kty: 'RSA', alg: 'RS256', use: 'sig', e: 'AQAB' },
          n: 'kqGboBfAWttWPCA-0cGRgsY6SaYoIARt0B_PkaEcIq9HPYNdu9n6UuWHuuTHrjF_ZoQW97r5HaAorNvrMEGTGdxCHZdEtkHvNVVmrtxTBLiQCbCozXhFoIrVcr3qUBrdGnNn_M3jJi7Wg7p_-x62nS5gNG875oyheRkutHsQXikFZwsN3q_TsPNOVlCiHy8mxzaFTUQGm-X8UYexFyAivlDSjgDJLAZSWfxd7k9Gxuwa3AUfQqQcVcegmgKGCaErQ3qQbh1x7WB6iopE3_-GZ8HMAVtR9AmrVscqYsnjhaCehfAI0iKKs8zXr8tISc0ORbaalrkk03H1ZrsEnDKEWQ',
        },
        'eyJhbGciOiJSUzI1NiIsImtpZCI6ImtpZC1yc2Etc2lnbiJ9.Zm9v.HUwxI1-cZrZgcuOgBQ7G7NE-GrqK79l6GV1KT4DKXnSMFwC8pfZCzE7pmLE7mYpLCIvzC87yuOjuhT0uW5oe6aaAEtR978cm-q8dfly45flqMrd_ifhi9GCsMlyi8dpQ42Ou1etZljFZuWjfyk8CN1c5DaHRwhqjScAPIFp6xmzKIRUJ_xdQfUSfSlujLaixtScU518EoNP4oo1v7E8RAz6ZO4g2N4Xqs8OvSxYydcoTEg42QnLHe9JnXgI37Q5gSwinwaPsG3Ry56UYiLoL8mCUa74S51y02VsIgVmmGWgaXjM-i_lCiKQDBiBnvWlka4XhVuvd6ZWibM9cbCPtPg',
        'foo',
      ],
      [
        { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
        'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
        'Example of Ed25519 signing',
      ],
    ]
    for (const [jwk, token, payload] of vectors) {
      assert.equal(payloadOf(token, jwk), payload)
      assert.equal(payloadOf(token, { ...jwk, key_ops: ['verify'] }), payload)
    }
  })

  test('accepts any payload, even an empty one, and a header with any white space', () => {
    assert.equal(payloadOf(forge({ alg: 'HS256' }, '')), '')
    assert.equal(payloadOf(forge(' {\n"kid" : "x",\t"alg":"HS256" }')), 'foo')
  })

  test('rejects an algorithm that the caller does not allow or that does not fit the key', () => {
    for (const alg of ['ES256', 'EdDSA', 'RS256'] as const) {
      const token = tokenOf(alg)
      assert.equal(payloadOf(token, jwks[alg], [alg]), '{"a":1}')
      for (const others of [[], all.filter((each) => each !== alg), ['none', '']])
        assert.equal(payloadOf(token, jwks[alg], others), undefined)
      for (const other of all.filter((each) => each !== alg))
        assert.equal(payloadOf(token, jwks[other]), undefined)
    }
  })

  test('J1 rejects `none` in any spelling and every unknown algorithm, signed or unsigned', () => {
    const spellings = ['none', 'None', 'NONE', 'nOnE', 'noné', ' none', 'none\0', '', 'null', 'HS0']
    const others = [
      'hs256',
      'Hs256',
      'HS256 ',
      ' HS256',
      'HS384',
      'HS512',
      'HS256\0',
      'ＨＳ256',
      'SHA256',
      'Ed25519',
    ]
    for (const alg of [
      ...spellings,
      ...others,
      ['HS256'],
      [['HS256']],
      null,
      0,
      256,
      true,
      {},
      { toString: 'HS256' },
      undefined,
    ]) {
      const token = forge({ alg })
      const [header, payload] = token.split('.')
      for (const each of [token, `${header}.${payload}.`, `${header}.${payload}`]) {
        assert.equal(payloadOf(each), undefined, JSON.stringify(alg))
        for (const jwk of Object.values(jwks)) assert.equal(payloadOf(each, jwk, ['HS256']), undefined)
      }
    }
    assert.equal(
      payloadOf(forge({ alg: 'none' }), jwks.HS256, ['none']),
      undefined,
      'The caller allows `none`.',
    )
  })

  test('J2 accepts no public key as a secret, in any of 13 encodings', () => {
    for (const { publicKey } of Object.values(pairs)) {
      const jwk = publicKey.export({ format: 'jwk' })
      const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
      const der = publicKey.export({ type: 'spki', format: 'der' })
      const point = Buffer.from(jwk.x ?? jwk.n ?? '', 'base64url')
      const encodings = [
        ...[pem, pem.trim(), pem.replaceAll('\n', '\r\n'), pem.replaceAll(/-----.*-----|\n/g, '')],
        ...[der, der.toString('hex'), der.toString('base64'), der.toString('base64url')],
        ...[JSON.stringify(jwk), JSON.stringify(jwk, undefined, 2), jwk.x ?? jwk.n ?? '', point],
        Buffer.concat([Buffer.from([4]), point, Buffer.from(jwk.y ?? '', 'base64url')]),
      ]
      for (const encoding of encodings) {
        const token = forge({ alg: 'HS256' }, 'foo', Buffer.from(encoding))
        assert.equal(payloadOf(token, jwk), undefined)
        assert.equal(payloadOf(token, { ...jwk, alg: 'HS256' }), undefined)
      }
    }
  })

  test('uses only the public half of a private key', () => {
    const jwk = pairs.EdDSA.privateKey.export({ format: 'jwk' })
    assert.equal(payloadOf(tokenOf('EdDSA'), jwk), '{"a":1}')
    assert.equal(payloadOf(tokenOf('EdDSA'), { ...jwk, key_ops: ['verify'] }), '{"a":1}')
    assert.equal(payloadOf(tokenOf('EdDSA'), { ...jwk, key_ops: ['sign'] }), undefined)
  })

  test('rejects an unsuitable key', () => {
    const hs256 = forge({ alg: 'HS256' })
    const short = Buffer.alloc(31, 1)
    const bad: [string, unknown][] = [
      [forge({ alg: 'HS256' }, 'foo', short), { kty: 'oct', k: encode(short) }],
      [forge({ alg: 'HS256' }, 'foo', Buffer.alloc(0)), { kty: 'oct', k: '' }],
      ...['enc', '', null].map((use): [string, unknown] => [hs256, { ...jwks.HS256, use }]),
      ...[[], ['sign'], ['encrypt'], 'verify'].map((key_ops): [string, unknown] => [
        hs256,
        { ...jwks.HS256, key_ops },
      ]),
      ...['HS384', 'A256GCM', 'none', ''].map((alg): [string, unknown] => [hs256, { ...jwks.HS256, alg }]),
      ...[undefined, null, 5, 'key', [], {}, { kty: 'oct' }, { kty: 'oct', k: 5 }].map(
        (jwk): [string, unknown] => [hs256, jwk],
      ),
      [tokenOf('ES256'), { ...jwks.ES256, crv: 'P-384' }],
      [tokenOf('ES256'), { ...jwks.ES256, alg: 'ES512' }],
      [tokenOf('ES256'), { ...jwks.ES256, x: jwks.ES256?.y }],
      [tokenOf('RS256'), { ...jwks.RS256, alg: 'PS256' }],
      [tokenOf('EdDSA'), { ...jwks.EdDSA, crv: 'Ed448' }],
    ]
    for (const [token, jwk] of bad)
      assert.equal(verifyCompact(token, jwk as JsonWebKey, all), undefined, JSON.stringify(jwk))

    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const input = `${encode('{"alg":"RS256"}')}.${encode('foo')}`
    const token = `${input}.${sign('sha256', Buffer.from(input), weak.privateKey).toString('base64url')}`
    assert.equal(verifyCompact(token, weak.publicKey.export({ format: 'jwk' }), all), undefined)
  })

  test('rejects an ES256 signature in DER', () => {
    const input = `${encode('{"alg":"ES256"}')}.${encode('foo')}`
    const token = (dsaEncoding: 'der' | 'ieee-p1363') =>
      `${input}.${encode(sign('sha256', Buffer.from(input), { key: pairs.ES256.privateKey, dsaEncoding }))}`
    assert.equal(payloadOf(token('ieee-p1363'), jwks.ES256), 'foo')
    assert.equal(payloadOf(token('der'), jwks.ES256), undefined)
  })

  test('J4 rejects a token if any one character was changed', () => {
    // About 11,000 changes, so only HS256, the fastest algorithm. jose.slow.test.ts changes tokens of all algorithms.
    const token = forge({ alg: 'HS256' }, '{"a":1}')
    assert.equal(payloadOf(token), '{"a":1}')
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (let i = 0; i < token.length; i += 1) {
      for (const character of [...alphabet, ...'=+/. \n\0é', '']) {
        const replaced = token.slice(0, i) + character + token.slice(i + 1)
        const inserted = token.slice(0, i) + character + token.slice(i)
        for (const edited of [replaced, inserted]) {
          if (edited !== token) assert.equal(payloadOf(edited), undefined, edited)
        }
      }
    }
  })

  test('never throws for any input', () => {
    const token = fc.oneof(
      fc.string(),
      fc.string({ unit: anyUnit }),
      fc.array(fc.base64String(), { size: '-1' }).map((parts) => parts.join('.')),
    )
    const jwk = fc.oneof(
      fc.constantFrom(...Object.values(jwks)),
      fc.anything(),
      fc.record({ kty: fc.constantFrom('EC', 'RSA', 'OKP', 'oct'), k: fc.anything() }),
    )
    const property = fc.property(token, jwk, fc.constantFrom(...all), (text, key, alg) => {
      assert.equal(verifyCompact(text, key as JsonWebKey, all), undefined)
      assert.equal(
        verifyCompact(`${encode(JSON.stringify({ alg }))}.${text}`, key as JsonWebKey, all),
        undefined,
      )
    })
    fc.assert(property, { numRuns: 1000 })
    for (const none of [undefined, null, 5, {}, ['a.b.c']])
      assert.equal(verifyCompact(none as unknown as string, {}, all), undefined)
  })
})

describe('openCompact', () => {
  const failIfCalled = () => assert.fail('keys were requested')

  test('J10 rejects a token that is too long or does not have three parts, without requesting keys', () => {
    const [header, payload, mac] = forge({ alg: 'HS256' }).split('.')
    const jwe = encode(
      JSON.stringify({
        alg: 'PBES2-HS512+A256KW',
        enc: 'A256GCM',
        p2c: 2 ** 31,
        p2s: 'AAAAAAAAAAA',
        zip: 'DEF',
      }),
    )
    const bad = [
      ...['', '.', '..a.', 'a', 'a.b', `${header}.${payload}`, `${header}.${payload}${mac}`],
      ...[
        `.${header}.${payload}.${mac}`,
        `${header}.${payload}.${mac}.`,
        `${header}.${payload}..${mac}`,
        '....',
        '...',
      ],
      ...[`${jwe}.AAAA.AAAA.${'A'.repeat(4000)}.AAAA`, `${jwe}....`, '.'.repeat(8192)],
      forge({ alg: 'HS256' }, 'a'.repeat(7000)),
    ]
    for (const token of bad) assert.equal(openCompact(token, failIfCalled), undefined, token.slice(0, 100))
  })

  test('J10 accepts at most 8 KB', () => {
    const key = new JWTKey(secret)
    const [header = '', , mac = ''] = forge({ alg: 'HS256' }).split('.')
    const sized = (bytes: number) => forge({ alg: 'HS256' }, 'a'.repeat(bytes))
    const longest = Math.floor(((8192 - header.length - mac.length - 2) * 3) / 4)
    assert.equal(sized(longest).length, 8192)
    assert.equal(openCompact(sized(longest), () => [key])?.length, longest)
    assert.equal(openCompact(sized(longest + 1), failIfCalled), undefined)
  })

  test('tries all keys', () => {
    const other = new JWTKey(createSecretKey(Buffer.alloc(32)))
    const key = new JWTKey(secret)
    const token = forge({ alg: 'HS256' })
    assert.equal(openCompact(token, () => [other, key])?.toString(), 'foo')
    assert.equal(
      openCompact(token, () => [other]),
      undefined,
    )
    assert.equal(
      openCompact(token, () => []),
      undefined,
    )
  })
})

describe('signCompact', () => {
  test('writes the key id and the type into the header', () => {
    const key = new JWTKey(secret)
    const token = signCompact({ a: 'ä' }, 'JWT', key)
    const [header, payload] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString())
    assert.equal(header, `{"alg":"HS256","typ":"JWT","kid":"${key.kid}"}`)
    assert.equal(payload, '{"a":"ä"}')
    assert.equal(payloadOf(token), payload)
  })
})

describe('parseHeader', () => {
  test('returns `alg`, `typ` and `kid`, and ignores unknown members (RFC 7515 §4)', () => {
    const header = { alg: 'HS256', typ: 'JWT', kid: 'a' }
    assert.deepEqual(parse({ x: [1], ...header }), header)
    assert.deepEqual(parse({ x: [1], alg: 'HS256' }), { alg: 'HS256', typ: undefined, kid: undefined })
  })

  test('rejects an `alg` that is missing or not a string', () => {
    for (const alg of [undefined, null, 0, true, ['HS256'], { name: 'HS256' }])
      assert.equal(parse({ alg }), undefined)
  })

  test('rejects a `typ` or `kid` that is not a string', () => {
    for (const value of [null, 0, false, ['JWT'], { a: 1 }]) {
      assert.equal(parse({ alg: 'HS256', typ: value }), undefined)
      assert.equal(parse({ alg: 'HS256', kid: value }), undefined)
    }
  })

  test('J3 rejects extensions, compression and keys of the sender, with any value', () => {
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

  test('J11 accepts only strict JSON in strict base64url', () => {
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
  test('is the same for every spelling of a type', () => {
    for (const typ of ['JWT', 'jwt', 'Jwt', 'application/JWT', 'APPLICATION/jwt'])
      assert.equal(mediaType(typ), 'application/jwt')
    for (const typ of ['', 'at+jwt', 'text/jwt', 'JWT ', 'application/application/jwt']) {
      assert.notEqual(mediaType(typ), 'application/jwt')
    }
  })
})

describe('decodeBase64url', () => {
  test('decodes encoded bytes', () => {
    const property = fc.property(fc.uint8Array(), (bytes) => {
      const decoded = decodeBase64url(Buffer.from(bytes).toString('base64url'))
      assert.deepEqual(decoded && [...decoded], [...bytes])
    })
    fc.assert(property)
  })

  test('J4 rejects padding, white space, the alphabet of base64, non-zero unused bits and impossible lengths', () => {
    const bad = [
      'AA==',
      'AAA=',
      'AA ',
      ' AA',
      'A\nA',
      'A A',
      '+_8',
      '-/8',
      'AB',
      'AAB',
      'A',
      'AAAAA',
      'AA.',
      'ÄÄ',
      'ŁŁ',
    ]
    for (const text of bad) assert.equal(decodeBase64url(text), undefined, JSON.stringify(text))
  })
})
