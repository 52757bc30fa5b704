import assert from 'node:assert/strict'
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { RequestListener, ServerResponse } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { SignJWT } from 'jose'
import Koa from 'koa'
import { auth, guard } from '../index.ts'
import { serve } from '../testing/serve.ts'
import { AccessToken, type Claims, JWTIssuer, type JWTIssuerOptions } from './index.ts'

const made = 1_800_000_000
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { privateKey: newKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const { privateKey: rsaKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

const jwkOf = (key: KeyObject, more = {}) => ({ ...createPublicKey(key).export({ format: 'jwk' }), ...more })

/** A provider with discovery and one key, whose responses a test can change, and an application that accepts its tokens. */
async function start(t: TestContext, options: Partial<JWTIssuerOptions> = {}) {
  const requests: string[] = []
  const provider = {
    url: '',
    requests,
    jwks: { keys: [jwkOf(privateKey, { kid: 'a' })] } as unknown,
    issuer: undefined as unknown,
    jwksURL: undefined as unknown,
    respond: undefined as ((response: ServerResponse) => void) | undefined,
  }
  const listener: RequestListener = ({ url = '' }, response) => {
    requests.push(url)
    if (provider.respond) return provider.respond(response)
    const { url: issuer = '' } = provider
    const discovery = { issuer: provider.issuer ?? issuer, jwks_uri: provider.jwksURL ?? `${issuer}/jwks` }
    response.end(JSON.stringify(url === '/jwks' ? provider.jwks : discovery))
  }
  provider.url = (await serve(t, { callback: () => listener, on: () => undefined })).url

  t.mock.timers.reset()
  t.mock.timers.enable({ apis: ['Date'], now: made * 1000 })
  const wait = (milliseconds: number) => t.mock.timers.setTime(Date.now() + milliseconds)
  const issuer = new JWTIssuer({ issuer: provider.url, audience: 'api', ...options })
  const app = new Koa()
  app.use(auth())
  app.use(AccessToken.authenticator(issuer))
  app.use(guard(AccessToken))
  app.use((ctx) => {
    const { subject, scopes } = ctx.auth.require(AccessToken)
    ctx.body = { subject, scopes }
  })
  const { url, errors } = await serve(t, app)
  const claims = {
    iss: provider.url,
    aud: 'api',
    sub: 'ada',
    scope: 'read write',
    iat: made,
    exp: made + 86_400,
  }
  const sign = (header = {}, more: Claims = {}, key = privateKey) =>
    new SignJWT({ ...claims, ...more } as Record<string, unknown>)
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'a', ...header })
      .sign(key)
  const get = (token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } })
  const statusOf = async (token: string) => (await get(token)).status
  return { provider, issuer, wait, errors, sign, get, statusOf }
}

describe('JWTIssuer', () => {
  test('J6 J7 finds the keys by discovery and accepts an access token with the lifetime that the issuer gave it', async (t) => {
    const { provider, sign, get } = await start(t)
    const response = await get(await sign())
    assert.deepEqual(await response.json(), { subject: 'ada', scopes: ['read', 'write'] })
    assert.equal((await get(await sign())).status, 200)
    assert.deepEqual(provider.requests, ['/.well-known/openid-configuration', '/jwks'])
  })

  test('needs no discovery with `jwksURL`', async (t) => {
    const { provider: other } = await start(t)
    const { provider, sign, statusOf } = await start(t, {
      jwksURL: `${other.url}/jwks`,
      issuer: 'urn:issuer',
    })
    assert.equal(await statusOf(await sign({}, { iss: 'urn:issuer' })), 200)
    assert.deepEqual([other.requests, provider.requests], [['/jwks'], []])
  })

  test('J7 rejects another issuer, audience, `typ` or subject, and the dates that JWTKeys rejects', async (t) => {
    const { sign, statusOf } = await start(t)
    const claims = [
      ...[{ iss: 'https://other' }, { aud: 'other' }, { sub: undefined }, { sub: '' }, { sub: 5 }],
      ...[{ exp: made }, { exp: undefined }, { iat: made + 1 }, { iat: undefined }, { nbf: made + 1 }],
    ]
    for (const each of claims) assert.equal(await statusOf(await sign({}, each)), 401, JSON.stringify(each))
    for (const typ of ['JWT', 'id_token+jwt', 'logout+jwt', undefined])
      assert.equal(await statusOf(await sign({ typ })), 401, typ)
    assert.equal(await statusOf(await sign({ typ: 'application/at+jwt' })), 200)
  })

  test('accepts the tokens of Auth0, Keycloak and Entra with `typ: JWT`, and no others then', async (t) => {
    const { sign, statusOf } = await start(t, { typ: 'JWT' })
    assert.equal(await statusOf(await sign({ typ: 'JWT' })), 200)
    assert.equal(await statusOf(await sign()), 401)
  })

  test('reads scopes from `scope` or `scp`, as text or as a list', async (t) => {
    const { sign, get } = await start(t)
    const scopesOf = async (claims: Claims) =>
      ((await (await get(await sign({}, claims))).json()) as { scopes: string[] }).scopes
    assert.deepEqual(await scopesOf({ scope: undefined, scp: 'a  b' }), ['a', 'b'])
    assert.deepEqual(await scopesOf({ scope: undefined, scp: ['a', 1, 'b'] }), ['a', 'b'])
    assert.deepEqual(await scopesOf({ scope: undefined }), [])
  })

  test('J1 J2 rejects symmetric algorithms, `none`, and an algorithm that does not fit the key', async (t) => {
    const { provider, sign, statusOf } = await start(t)
    const k = Buffer.alloc(32, 1)
    const oct = { kty: 'oct', k: k.toString('base64url'), kid: 'oct' }
    provider.jwks = {
      keys: [jwkOf(privateKey, { kid: 'a' }), jwkOf(rsaKey, { kid: 'rsa', alg: 'PS256' }), oct],
    }
    const [, payload] = (await sign()).split('.')
    const spki = Buffer.from(createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }))
    for (const alg of ['HS256', 'HS512', 'none', 'None', 'ES384', 'RS256', 'EdDSA', 'dir']) {
      for (const kid of ['a', 'oct', 'rsa']) {
        const header = Buffer.from(JSON.stringify({ alg, typ: 'at+jwt', kid })).toString('base64url')
        const signatures = [k, spki].map((key) =>
          createHmac('sha256', key).update(`${header}.${payload}`).digest('base64url'),
        )
        for (const signature of ['', ...signatures])
          assert.equal(await statusOf(`${header}.${payload}.${signature}`), 401, `${alg} ${kid}`)
      }
    }
    assert.equal(await statusOf(await sign({ alg: 'PS256', kid: 'rsa' }, {}, rsaKey)), 200)
    assert.equal(await statusOf(await sign({ alg: 'RS256', kid: 'rsa' }, {}, rsaKey)), 401)
  })

  test('J5 uses no key for another purpose', async (t) => {
    const { provider, sign, statusOf } = await start(t)
    const others = [{ use: 'enc' }, { key_ops: ['encrypt'] }, { key_ops: 'verify' }, { alg: null }].map(
      (more, i) => jwkOf(privateKey, { kid: `other${i}`, ...more }),
    )
    provider.jwks = { keys: [jwkOf(privateKey, { kid: 'a' }), ...others, {}] }
    assert.equal(await statusOf(await sign()), 200)
    for (const kid of ['other0', 'other1', 'other2', 'other3'])
      assert.equal(await statusOf(await sign({ kid })), 401)
  })

  test('accepts a token without `kid` if one key fits its algorithm', async (t) => {
    const { provider, sign, statusOf } = await start(t)
    provider.jwks = { keys: [jwkOf(rsaKey), jwkOf(newKey), jwkOf(privateKey)] }
    assert.equal(await statusOf(await sign({ kid: undefined })), 200)
    assert.equal(await statusOf(await sign({ kid: undefined, alg: 'ES384' }, {}, newKey)), 200)
  })

  test('J12 loads a new key for its `kid`, and rejects tokens of a removed key, also of a token that it has accepted', async (t) => {
    const { provider, wait, sign, statusOf } = await start(t)
    const [old, fresh] = [await sign(), await sign({ alg: 'ES384', kid: 'b' }, {}, newKey)]
    assert.equal(await statusOf(old), 200)
    provider.jwks = { keys: [jwkOf(newKey, { kid: 'b' })] }
    wait(30_000)
    assert.deepEqual([await statusOf(old), await statusOf(fresh), await statusOf(old)], [200, 200, 401])
  })

  test('J3 loads the keys at most once in 30 seconds for unknown keys, whatever the tokens contain', async (t) => {
    const { provider, wait, sign, statusOf } = await start(t)
    const loads = () => provider.requests.filter((path) => path === '/jwks').length
    assert.equal(await statusOf(await sign()), 200)
    const kids = ['', '../x', `${provider.url}/evil`, "' or 1=1 --", '\0', 'k'.repeat(2000)]
    const hostile = await Promise.all([...kids, ...kids.map((kid) => `${kid}2`)].map((kid) => sign({ kid })))
    wait(29_999)
    assert.deepEqual(new Set(await Promise.all(hostile.map(statusOf))), new Set([401]))
    assert.equal(loads(), 1)
    wait(1)
    assert.deepEqual(new Set(await Promise.all(hostile.map(statusOf))), new Set([401]))
    assert.equal(loads(), 2)
    wait(29_999)
    assert.deepEqual(new Set(await Promise.all(hostile.map(statusOf))), new Set([401]))
    assert.equal(loads(), 2)
    assert.deepEqual(new Set(provider.requests), new Set(['/.well-known/openid-configuration', '/jwks']))
  })

  test('J3 asks nothing of the issuer for a malformed token', async (t) => {
    const { provider, sign, statusOf } = await start(t)
    const [header, payload, signature] = (await sign()).split('.')
    const jku = await sign({ jku: 'http://127.0.0.1/' })
    for (const token of [
      'opaque',
      'a.b.c',
      `${header}.${payload}`,
      `${header}.${payload}.${signature}.`,
      jku,
    ])
      assert.equal(await statusOf(token), 401)
    assert.deepEqual(provider.requests, [])
  })

  test('responds with 503 while the keys cannot be loaded, and logs the reason', async (t) => {
    const { provider, errors, sign, statusOf } = await start(t)
    provider.respond = (response) => response.writeHead(500).end()
    const token = await sign()
    assert.equal(await statusOf(token), 503)
    const [error] = errors
    assert.ok(error?.cause instanceof Error)
    assert.match(
      error.cause.message,
      /^The keys of http.* cannot be loaded: http.*openid-configuration responds with 500/,
    )
    provider.respond = undefined
    assert.equal(await statusOf(token), 200)
  })

  test('J12 loads the keys again after ten minutes, also for a token that it has accepted', async (t) => {
    const { provider, wait, sign, statusOf } = await start(t)
    const token = await sign()
    assert.equal(await statusOf(token), 200)
    provider.jwks = { keys: [jwkOf(newKey, { kid: 'b' })] }
    wait(599_999)
    assert.deepEqual([await statusOf(token), provider.requests.length], [200, 2])
    wait(1)
    assert.deepEqual([await statusOf(token), provider.requests.length], [401, 4])
  })

  test('keeps its keys if loading them for an unknown `kid` fails', async (t) => {
    const { provider, wait, sign, statusOf } = await start(t)
    const token = await sign()
    assert.equal(await statusOf(token), 200)
    provider.respond = (response) => response.destroy()
    wait(30_000)
    assert.deepEqual([await statusOf(await sign({ kid: 'b' })), await statusOf(token)], [503, 200])
  })

  test('responds with 503 to redirects, big responses, other issuers, keys without TLS and anything but keys', async (t) => {
    const { provider: elsewhere } = await start(t)
    const responses: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(302, { location: `${elsewhere.url}/jwks` }).end(),
      (response) => response.end(`{"keys":[]}${' '.repeat(300_000)}`),
      (response) => response.end('{"keys":[],"keys":[]}'),
      (response) => response.end('<html>'),
      (response) => response.end('null'),
    ]
    for (const respond of responses) {
      const { provider, sign, statusOf } = await start(t)
      provider.respond = respond
      assert.equal(await statusOf(await sign()), 503)
    }
    assert.deepEqual(elsewhere.requests, [])
    const wrong = [
      ...[
        { issuer: 'https://login.example.com' },
        { issuer: 5 },
        { jwksURL: 'http://192.0.2.1/jwks' },
        { jwksURL: 5 },
      ],
      ...[{ jwksURL: 'file:///etc/passwd' }, { jwks: {} }, { jwks: { keys: [] } }, { jwks: { keys: {} } }],
    ]
    for (const each of wrong) {
      const { provider, sign, statusOf } = await start(t)
      Object.assign(provider, each)
      assert.equal(await statusOf(await sign()), 503, JSON.stringify(each))
    }
  })

  test('responds with 503 if the issuer is silent for longer than the time limit', async (t) => {
    const { provider, errors, sign, statusOf } = await start(t, { timeLimit: 1 })
    provider.respond = () => undefined
    assert.equal(await statusOf(await sign()), 503)
    assert.match(String(errors[0]?.cause), /ProviderError.*timeout/)
  })

  test('needs https except on the loopback interface, and an audience', () => {
    const options = { issuer: 'https://login.example.com/', audience: 'api' }
    for (const issuer of [
      'https://a.example',
      'http://localhost:8080',
      'http://[::1]:80/x',
      'http://127.0.0.2',
    ])
      assert.ok(new JWTIssuer({ ...options, issuer }))
    const wrong = [
      ...['http://a.example', 'http://localhost.example', 'login.example.com', 'file:///a', ''].map(
        (issuer) => ({ issuer }),
      ),
      ...['http://a.example/jwks', 'jwks'].map((jwksURL) => ({ jwksURL })),
      ...[{ audience: '' }, { leeway: 61 }],
    ]
    for (const each of wrong)
      assert.throws(
        () => new JWTIssuer({ ...options, ...each }),
        { code: 'ERR_AUTH_MISUSE' },
        JSON.stringify(each),
      )
  })
})

describe('AccessToken', () => {
  test('can be subclassed for more claims', async (t) => {
    class Member extends AccessToken {
      static override parse(claims: Claims, expiration: Date): Member | undefined {
        const token = AccessToken.parse(claims, expiration)
        return token && claims.role === 'member'
          ? new Member(token.subject, token.scopes, claims, expiration)
          : undefined
      }
    }
    const { issuer, sign } = await start(t)
    assert.ok((await issuer.verify(await sign({}, { role: 'member' }), Member)) instanceof Member)
    assert.equal(await issuer.verify(await sign({}, { role: 'guest' }), Member), undefined)
  })
})
