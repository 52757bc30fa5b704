import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { SignJWT, UnsecuredJWT } from 'jose'
import { type FakeProvider, json, type Reply, redirectTo, serveProvider } from './fake-provider.ts'

/** What a forging provider changes. */
export interface Forgery {
  /** Claims of the ID token. `undefined` leaves a claim out. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Members of the header of the ID token. */
  readonly header?: Readonly<Record<string, unknown>>
  /** Parameters of the answer in the URL. */
  readonly answer?: Readonly<Record<string, string | undefined>>
  readonly metadata?: Readonly<Record<string, unknown>>
  /** `other`: a key that is not published. `secret`: HS256 with the secret of the client. `none`: unsigned. */
  readonly signedBy?: 'other' | 'secret' | 'none'
}

export interface FakeOpenID extends FakeProvider {
  forgery: Forgery
  rotateKeys(): void
}

const clientSecret = 'secret-of-the-client'

/** The client that the fake provider knows. */
export const client = { clientId: 'site', clientSecret }

function newKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const kid = randomBytes(4).toString('hex')
  return { privateKey, kid, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' } }
}

/** An OpenID provider that asks the person nothing, and forges its answers as a test wants. */
export async function fakeOpenID(): Promise<FakeOpenID> {
  let key = newKey()
  const codes = new Map<string, URLSearchParams>()
  const provider: FakeProvider = await serveProvider((request, url) => answer(request, url))
  const rotateKeys = () => {
    key = newKey()
  }
  const fake: FakeOpenID = Object.assign(provider, { forgery: {}, rotateKeys })

  async function answer(request: IncomingMessage, { pathname, searchParams }: URL): Promise<Reply> {
    if (pathname === '/.well-known/openid-configuration') return json(metadata())
    if (pathname === '/jwks') return json({ keys: [key.jwk] })
    if (pathname === '/auth') return authorize(searchParams)
    if (pathname === '/token') return issue(new URLSearchParams(await text(request)))
    return json({}, 404)
  }

  function metadata(): object {
    return {
      issuer: fake.url,
      authorization_endpoint: `${fake.url}/auth`,
      token_endpoint: `${fake.url}/token`,
      jwks_uri: `${fake.url}/jwks`,
      authorization_response_iss_parameter_supported: true,
      id_token_signing_alg_values_supported: ['ES256'],
      ...fake.forgery.metadata,
    }
  }

  function authorize(query: URLSearchParams): Reply {
    const code = randomBytes(12).toString('hex')
    codes.set(code, query)
    const answered = { code, state: query.get('state') ?? '', iss: fake.url, ...fake.forgery.answer }
    return redirectTo(query.get('redirect_uri') ?? '', answered)
  }

  async function issue(form: URLSearchParams): Promise<Reply> {
    const code = form.get('code') ?? ''
    const started = codes.get(code)
    codes.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (challenge !== started?.get('code_challenge')) return json({ error: 'invalid_grant' }, 400)
    const id_token = await idToken(started.get('nonce'))
    return json({ access_token: 'access-token-of-the-provider', token_type: 'Bearer', id_token })
  }

  function idToken(nonce: string | null): Promise<string> | string {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: fake.url,
      sub: 'person-1',
      aud: client.clientId,
      iat: now,
      exp: now + 300,
      nonce,
      email: 'ada@example.com',
      email_verified: true,
      name: 'Ada',
      ...fake.forgery.claims,
    }
    const { signedBy, header } = fake.forgery
    if (signedBy === 'none') return new UnsecuredJWT(claims).encode()
    const token = new SignJWT(claims)
    if (signedBy === 'secret')
      return token.setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(clientSecret.padEnd(32, '.')))
    const { privateKey } = signedBy === 'other' ? newKey() : key
    return token.setProtectedHeader({ alg: 'ES256', kid: key.kid, ...header }).sign(privateKey)
  }

  return fake
}
