import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { bearer, signUp, takeJWT } from '../testing/people.ts'
import { recordSiteStatements } from '../testing/record-site-statements.ts'
import { temporaryFolder } from '../testing/server-process.ts'
import { startSite } from '../testing/site.ts'

const secret = 'a secret for a test of thirty-two bytes or more'
const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A token with any header and payload, and a valid MAC. */
function forge(header: unknown, payload: unknown, key: string | Buffer = secret): string {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
}

const decode = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString())

async function siteWithToken(t: TestContext) {
  const site = await startSite(t, { JWT_SECRET: secret })
  const jwt = await takeJWT(site, await signUp(site))
  const [header, payload] = jwt.split('.').map((part, i) => (i < 2 ? decode(part) : part))
  const statements = await recordSiteStatements(t, site)
  /** The statuses of a route with a database query and of a route without. */
  const request = async (token: string) => {
    const answers = [
      await site.visitor().get('/me', bearer(token)),
      await site.visitor().post('/validateLoggedInUser', bearer(token)),
    ]
    return answers.map(({ status }) => status)
  }
  assert.deepEqual(await request(forge(header, payload)), [200, 200], 'the forged token is valid')
  statements()
  return { header, payload, request, statements }
}

describe('a signed token', () => {
  test('J1 is rejected with any other algorithm in any spelling, with a right, wrong or missing signature', async (t) => {
    const { header, payload, request, statements } = await siteWithToken(t)
    const names = [
      ...[
        'none',
        'None',
        'NONE',
        'nOnE',
        '',
        ' ',
        'hs256',
        'HS256 ',
        'HS384',
        'HS512',
        'RS256',
        'ES256',
        'EdDSA',
        'PS256',
      ],
      ...[['HS256'], [], null, 0, true, {}, { alg: 'HS256' }, undefined],
    ]
    for (const alg of names) {
      const token = forge({ ...header, alg }, payload)
      const bare = token.replace(/[^.]+$/, '')
      for (const each of [token, bare, `${bare}AAAA`, forge({ alg, typ: 'JWT' }, payload)])
        assert.deepEqual(await request(each), [401, 401], JSON.stringify(alg))
    }
    assert.deepEqual(statements(), [])
  })

  test('J3 is rejected without a connection or a query if its header has a key, a key URL or a file name', async (t) => {
    const { header, payload, request, statements } = await siteWithToken(t)
    const listener = createServer()
    let connections = 0
    listener.on('connection', (socket) => {
      connections += 1
      socket.destroy()
    })
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    t.after(() => void listener.close())
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/jwks.json`
    const jwk = { kty: 'oct', k: encode(secret) }
    const tricks: object[] = [
      ...[
        { jku: url },
        { x5u: url },
        { jwk },
        { x5c: ['MIIB'] },
        { 'x5t#S256': 'x', x5u: url },
        { crit: ['exp'] },
        { crit: [] },
      ],
      ...[{ b64: false }, { crit: ['b64'], b64: false }, { zip: 'DEF' }, { zip: 'none' }],
      ...[
        '',
        '/dev/null',
        '../../../../dev/null',
        'file:///etc/passwd',
        url,
        "x' union select 'a'--",
        '|id',
        'k'.repeat(4096),
        '\0',
      ].map((kid) => ({ kid })),
      ...[0, true, null, [], {}, { $ne: null }, [header.kid]].map((kid) => ({ kid })),
    ]
    for (const trick of tricks) {
      assert.deepEqual(
        await request(forge({ ...header, ...trick }, payload)),
        [401, 401],
        JSON.stringify(trick).slice(0, 80),
      )
    }
    assert.equal(connections, 0)
    assert.deepEqual(statements(), [])
  })

  test('J6 J8 is rejected without a database query if its subject, a date, its issuer or its audience is invalid', async (t) => {
    const { header, payload, request, statements } = await siteWithToken(t)
    const { userId, iat } = payload
    const subjects = [
      ...[
        { $ne: null },
        { $ne: '' },
        { $gt: '' },
        { $in: [userId] },
        { $like: '%' },
        { $not: {} },
        {},
        { id: userId },
      ],
      ...[
        [],
        [userId],
        [[userId]],
        null,
        true,
        false,
        0,
        1,
        -1,
        1.5,
        '',
        ' ',
        '*',
        '%',
        "' or 1=1 --",
        '../x',
        `${userId} `,
      ],
      ...[
        ` ${userId}`,
        `${userId}\0`,
        `{${userId}}`,
        `urn:uuid:${userId}`,
        userId.replaceAll('-', ''),
        userId.slice(1),
        `${userId},${userId}`,
      ],
    ].map((each) => ({ userId: each }))
    const claims = [
      ...[undefined, null, '9999999999', true, [iat + 900], {}, 1e300, -1, 0, iat - 1, iat + 100_000].map(
        (exp) => ({ exp }),
      ),
      ...[undefined, null, `${iat}`, [], iat + 10_000, -1].map((each) => ({ iat: each })),
      ...[iat + 10_000, 'x', [], null].map((nbf) => ({ nbf })),
      ...[undefined, null, '', 'koa', ['koa-authenticators'], {}].map((iss) => ({ iss })),
      ...[undefined, null, '', 'koa', [], ['koa'], [1], {}].map((aud) => ({ aud })),
    ]
    assert.ok(subjects.length >= 30)
    for (const each of [...subjects, ...claims])
      assert.deepEqual(
        await request(forge(header, { ...payload, ...each })),
        [401, 401],
        JSON.stringify(each),
      )
    const text = JSON.stringify(payload)
    for (const each of [
      '',
      'null',
      '[]',
      `[${text}]`,
      `\ufeff${text}`,
      text.replace('{', '{"exp":1,'),
      text.replace('{', '{"\\u0065xp":1,'),
    ])
      assert.deepEqual(await request(forge(header, each)), [401, 401], each)
    const open = '['.repeat(2000)
    assert.deepEqual(
      await request(forge(header, text.replace('{', `{"deep":${open}${']'.repeat(2000)},`))),
      [401, 401],
    )
    assert.deepEqual(await request(forge(header, { ...payload, more: 'x'.repeat(7000) })), [401, 401])
    const jwe = encode({
      alg: 'PBES2-HS512+A256KW',
      enc: 'A256GCM',
      p2c: 2 ** 31,
      p2s: 'AAAAAAAAAAA',
      zip: 'DEF',
    })
    for (const each of [`${jwe}.AAAA.AAAA.${'A'.repeat(4000)}.AAAA`, `${jwe}.A.A.A.A`, `${jwe}....`])
      assert.deepEqual(await request(each), [401, 401])
    assert.deepEqual(statements(), [])
  })

  test('is rejected at /me if passwordChangedAt differs from the account, and valid without this claim', async (t) => {
    const { header, payload, request, statements } = await siteWithToken(t)
    const { passwordChangedAt, ...others } = payload
    assert.deepEqual(await request(forge(header, others)), [200, 200])
    assert.deepEqual(
      await request(forge(header, { ...payload, passwordChangedAt: passwordChangedAt - 1 })),
      [401, 200],
    )
    statements()
    const bad = [null, true, '', `${passwordChangedAt}`, [], [passwordChangedAt], {}, { $ne: 0 }, 0.5, 1e300]
    for (const each of bad)
      assert.deepEqual(
        await request(forge(header, { ...payload, passwordChangedAt: each })),
        [401, 401],
        JSON.stringify(each),
      )
    assert.deepEqual(statements(), [])
  })

  test('J2 is rejected if its MAC uses the public key of the site as the secret, in many encodings', async (t) => {
    for (const kind of ['ec', 'ed25519', 'rsa'] as const) {
      const { publicKey, privateKey } = pairOf(kind)
      const file = join(await temporaryFolder(t), 'key.pem')
      await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
      const site = await startSite(t, { JWT_KEYS: file })
      const [header, payload] = (await takeJWT(site, await signUp(site))).split('.').slice(0, 2).map(decode)
      const jwk = publicKey.export({ format: 'jwk' })
      const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
      const der = publicKey.export({ type: 'spki', format: 'der' })
      const point = Buffer.from(jwk.x ?? jwk.n ?? '', 'base64url')
      const forms = [
        ...[pem, pem.trim(), pem.replaceAll('\n', '\r\n'), pem.replaceAll(/-----.*-----|\n/g, ''), der],
        ...[
          der.toString('hex'),
          der.toString('base64'),
          der.toString('base64url'),
          JSON.stringify(jwk),
          point,
        ],
        Buffer.concat([Buffer.from([4]), point, Buffer.from(jwk.y ?? '', 'base64url')]),
      ]
      for (const form of forms) {
        for (const alg of ['HS256', header.alg]) {
          for (const each of [
            { ...header, alg },
            { alg, typ: 'JWT' },
          ]) {
            const { status } = await site
              .visitor()
              .get('/me', bearer(forge(each, payload, Buffer.from(form))))
            assert.equal(status, 401, kind)
          }
        }
      }
    }
  })
})

function pairOf(kind: 'ec' | 'ed25519' | 'rsa'): { publicKey: KeyObject; privateKey: KeyObject } {
  if (kind === 'ec') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  return generateKeyPairSync('ed25519')
}
