import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  CompactSign,
  type CryptoKey,
  importJWK,
  type JWTPayload as JoseClaims,
  jwtVerify,
  SignJWT,
} from 'jose'
import { type Claims, JWTKeys, JWTPayload } from './index.ts'

/** A payload with all claims, so that a test can compare them. */
class Anything extends JWTPayload {
  static readonly lifetime = 900
  readonly claims: Claims

  constructor(claims: Claims, expiration: Date) {
    super(expiration)
    this.claims = claims
  }

  static parse(claims: Claims, expiration: Date): Anything {
    return new Anything(claims, expiration)
  }
}

type Name = 'HS256' | 'ES256' | 'EdDSA' | 'RS256'
const names: Name[] = ['HS256', 'ES256', 'EdDSA', 'RS256']
const made = 1_800_000_000
const [issuer, audience] = ['https://site', 'https://api']
const sources: Record<Name, JsonWebKey> = {
  HS256: { kty: 'oct', k: Buffer.alloc(32, 5).toString('base64url') },
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  EdDSA: generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
}

async function signer(alg: Name) {
  const { kty = '', ...rest } = sources[alg]
  const keys = new JWTKeys({ keys: [sources[alg]], issuer, audience, now: () => made * 1000 })
  Anything.authenticator(keys)
  const signing = (await importJWK({ kty, ...rest }, alg)) as CryptoKey | Uint8Array
  const { d, p, q, dp, dq, qi, ...publicHalf } = rest
  const verifying = (await importJWK({ kty, ...publicHalf }, alg)) as CryptoKey | Uint8Array
  return { alg, keys, signing, verifying, kid: keyIdOf(keys) }
}

function keyIdOf(keys: JWTKeys): string {
  const [header = ''] = keys.sign(new Anything({}, new Date(made * 1000))).split('.')
  return JSON.parse(Buffer.from(header, 'base64url').toString()).kid
}

const signers = Object.fromEntries(
  await Promise.all(names.map(async (name) => [name, await signer(name)] as const)),
)

type Signer = Awaited<ReturnType<typeof signer>>

async function joseAccepts(token: string, { alg, verifying }: Signer): Promise<boolean> {
  const requiredClaims = ['exp', 'iat']
  const options = {
    algorithms: [alg],
    issuer,
    audience,
    typ: 'JWT',
    requiredClaims,
    currentDate: new Date(made * 1000),
  }
  return jwtVerify(token, verifying, options).then(
    () => true,
    () => false,
  )
}

const anySigner = fc.constantFrom(...names).map((name) => signers[name] as Signer)
const ownClaims = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }), { maxKeys: 4 })

const goodClaims = fc
  .record(
    {
      iat: fc.integer({ min: made - 899, max: made }),
      life: fc.integer({ min: 1, max: 900 }),
      nbf: fc.integer({ min: 0, max: made }),
      aud: fc.oneof(
        fc.constant(audience),
        fc.array(fc.string(), { maxLength: 3 }).map((others) => [...others, audience]),
      ),
    },
    { requiredKeys: ['iat', 'life', 'aud'] },
  )
  .map(({ iat, life, ...rest }) => ({
    iss: issuer,
    iat,
    exp: Math.min(Math.max(iat + life, made + 1), iat + 900),
    ...rest,
  }))

const goodHeader = fc.record(
  {
    typ: fc.constantFrom('JWT', 'jwt', 'application/jwt'),
    isNamed: fc.boolean(),
    cty: fc.string(),
    x: fc.jsonValue(),
  },
  { requiredKeys: ['typ', 'isNamed'] },
)

describe('JWTKeys compared with jose', () => {
  test('JWTKeys accepts every token that jose signs with valid claims, and returns these claims', async () => {
    const property = fc.asyncProperty(
      anySigner,
      goodHeader,
      ownClaims,
      goodClaims,
      async (signer, header, own, claims) => {
        const { isNamed, ...rest } = header
        const all = { ...own, ...claims } as JoseClaims
        const token = await new SignJWT(all)
          .setProtectedHeader({ alg: signer.alg, ...(isNamed && { kid: signer.kid }), ...rest })
          .sign(signer.signing)
        const payload = signer.keys.verify(token, Anything)
        assert.deepEqual(payload?.claims, JSON.parse(JSON.stringify(all)))
        assert.equal(payload?.expiration.getTime(), claims.exp * 1000)
      },
    )
    await fc.assert(property, { numRuns: 1000 })
  })

  test('jose accepts every token that JWTKeys signs', async () => {
    const property = fc.asyncProperty(
      anySigner,
      ownClaims,
      fc.integer({ min: 1, max: 900 }),
      async (signer, claims, life) => {
        const token = signer.keys.sign(new Anything(claims, new Date((made + life) * 1000)))
        assert.equal(await joseAccepts(token, signer), true)
      },
    )
    await fc.assert(property, { numRuns: 200 })
  })

  test('jose accepts the generated tokens that JWTKeys accepts', async () => {
    const value = fc.oneof(
      fc.integer({ min: made - 901, max: made + 901 }),
      fc.constantFrom(made, made + 1, made + 900, String(made), issuer, audience, [issuer], [audience]),
      fc.jsonValue(),
    )
    const name = fc.constantFrom('exp', 'iat', 'nbf', 'iss', 'aud', 'other')
    const change = fc.tuple(name, value).map(([name, value]) => ({ [name]: value }))
    const changes = fc.array(change, { maxLength: 2 })
    const wild = fc.tuple(goodClaims, changes).map(([good, wrong]) => Object.assign({}, good, ...wrong))
    const header = fc.record({ typ: fc.constantFrom('JWT', 'jwt', 'at+jwt') })
    let accepted = 0
    const property = fc.asyncProperty(anySigner, header, wild, async (signer, rest, payload) => {
      const token = await new CompactSign(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({ alg: signer.alg, ...rest })
        .sign(signer.signing)
      if (!signer.keys.verify(token, Anything)) return
      accepted += 1
      assert.equal(await joseAccepts(token, signer), true, token)
    })
    await fc.assert(property, { numRuns: 1000 })
    assert.ok(accepted > 100, `only ${accepted} were accepted`)
  })

  test('J4 JWTKeys rejects every modified token', () => {
    const tokens = Object.values(signers).map((signer) => {
      const token = signer.keys.sign(new Anything({ a: 'b' }, new Date((made + 900) * 1000)))
      return [signer, token] as const
    })
    const edit = fc.record({
      at: fc.nat({ max: 400 }),
      remove: fc.nat({ max: 3 }),
      insert: fc.string({ maxLength: 3 }),
    })
    const property = fc.property(
      fc.constantFrom(...tokens),
      fc.array(edit, { minLength: 1, maxLength: 3 }),
      ([signer, token], edits) => {
        const edited = edits.reduce(
          (text, { at, remove, insert }) => text.slice(0, at) + insert + text.slice(at + remove),
          token,
        )
        if (edited !== token) assert.equal(signer.keys.verify(edited, Anything), undefined, edited)
      },
    )
    fc.assert(property, { numRuns: 1000 })
  })

  test('JWTKeys rejects tokens that jose accepts, as docs/jwt.md says', async () => {
    const signer = signers.HS256 as Signer
    const header = { alg: 'HS256', typ: 'JWT' }
    const claims = { iss: issuer, aud: audience, iat: made, exp: made + 900 }
    const text = JSON.stringify(claims)
    const listed: Record<string, string> = {
      'no exp': forge(header, { ...claims, exp: undefined }),
      'no iat': forge(header, { ...claims, iat: undefined }),
      'iat in the future': forge(header, { ...claims, iat: made + 1 }),
      'a lifetime that is too long': forge(header, { ...claims, exp: made + 901 }),
      'an aud with a number': forge(header, { ...claims, aud: [audience, 1] }),
      'no typ': forge({ alg: 'HS256' }, claims),
      'an unknown kid': forge({ ...header, kid: 'x' }, claims),
      'a kid that is not a string': forge({ ...header, kid: { $ne: null } }, claims),
      'a key in the header': forge({ ...header, jwk: sources.HS256 }, claims),
      'a key URL in the header': forge({ ...header, jku: 'https://site' }, claims),
      zip: forge({ ...header, zip: 'DEF' }, claims),
      crit: forge({ ...header, crit: ['b64'], b64: true }, claims),
      'a duplicate key in the header': forge('{"alg":"none","alg":"HS256","typ":"JWT"}', claims),
      'a duplicate key in the payload': forge(header, text.replace('{', '{"exp":0,')),
      'a byte order mark': forge(header, `\uFEFF${text}`),
      'deep nesting': forge(header, { ...claims, deep: JSON.parse(`${'['.repeat(32)}${']'.repeat(32)}`) }),
      'more than 8 KB': forge(header, { ...claims, long: 'a'.repeat(7000) }),
      'non-zero unused bits in the last character': forge(header, claims).replace(/.$/, (last) => {
        const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
        return alphabet[alphabet.indexOf(last) + 1] ?? ''
      }),
      padding: `${forge(header, claims)}=`,
      'white space': `${forge(header, claims)} `,
    }
    for (const [what, token] of Object.entries(listed)) {
      const options = { issuer, audience, currentDate: new Date(made * 1000) }
      await assert.doesNotReject(jwtVerify(token, signer.verifying, options), what)
      assert.equal(signer.keys.verify(token, Anything), undefined, what)
    }
  })
})

function forge(header: object | string, payload: object | string): string {
  const parts = [header, payload].map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
  const input = parts.map((part) => Buffer.from(part).toString('base64url')).join('.')
  const secret = Buffer.from(sources.HS256.k ?? '', 'base64url')
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}
