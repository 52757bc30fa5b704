import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { selfSigned } from '../../testing/certificate.ts'
import { client, fakeOpenID } from '../testing/fake-openid.ts'
import { OAuthProvider } from './oauth-provider.ts'
import { OpenIDProvider } from './openid-provider.ts'

const flow = { provider: 'company', state: 'state', nonce: 'nonce', verifier: 'v'.repeat(43) }
const answer = new URLSearchParams({ code: 'code', state: flow.state })
const options = { name: 'company', callbackUrl: 'https://site.example/callback', ...client }

/** Serves the metadata of an issuer over TLS, with a certificate that this process trusts. */
async function serveIssuer(t: TestContext, metadata: object): Promise<string> {
  const certificate = selfSigned()
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, certificate.cert])
  const server = createServer(certificate, (_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ issuer: url, ...metadata }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(() => {
    setDefaultCACertificates(before)
    server.close()
    server.closeAllConnections()
  })
  return url
}

describe('a token endpoint without TLS', () => {
  it('gets no code and no secret if an https issuer names it', async (t) => {
    const plain = await fakeOpenID()
    t.after(() => plain.close())
    const issuer = await serveIssuer(t, {
      authorization_endpoint: `${plain.url}/auth`,
      token_endpoint: `${plain.url}/token`,
      jwks_uri: `${plain.url}/jwks`,
    })
    const provider = new OpenIDProvider({ ...options, issuer })
    await assert.rejects(async () => provider.identify(answer, flow), /https/i)
    assert.deepEqual(plain.requests, [])
  })

  it('gets no code and no secret of an OAuth client', async () => {
    const provider = new OAuthProvider({
      ...options,
      issuer: 'https://provider.example',
      authorizationEndpoint: 'https://provider.example/auth',
      tokenEndpoint: 'http://provider.invalid/token',
      scope: 'user',
      identify: async () => assert.fail('no token'),
    })
    await assert.rejects(async () => provider.identify(answer, flow), /HTTPS/)
  })
})
