import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import Koa from 'koa'
import Provider, { type AsymmetricSigningAlgorithm } from 'oidc-provider'
import { auth, guard } from '../index.ts'
import { serve } from '../testing/serve.ts'
import { AccessToken, JWTIssuer } from './index.ts'

const algorithms: AsymmetricSigningAlgorithm[] = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']

/** A node-oidc-provider whose client `robot` gets RFC 9068 access tokens. */
async function startProvider(t: TestContext) {
  // Listens first, because the provider needs its own URL.
  const listener: RequestListener = (request, response) => provider.callback()(request, response)
  const { url } = await serve(t, { callback: () => listener, on: () => undefined })
  const client = {
    client_id: 'robot',
    client_secret: 'analytical-engine',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  }
  const provider = new Provider(url, {
    jwks: { keys: await Promise.all(algorithms.map(newKey)) },
    clients: [client],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        // The path of a resource names the algorithm of its tokens.
        getResourceServerInfo(_ctx, resource) {
          const { origin: audience, pathname } = new URL(resource)
          const alg = algorithms.find((each) => pathname === `/${each}`) ?? 'RS256'
          return { scope: 'read write', audience, accessTokenFormat: 'jwt', jwt: { sign: { alg } } }
        },
      },
    },
  })
  const tokenFor = async (resource: string): Promise<string> => {
    const response = await fetch(`${url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('robot:analytical-engine')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'read', resource }),
    })
    const { access_token: token } = (await response.json()) as { access_token?: string }
    return token ?? assert.fail(`the provider responds with ${response.status}`)
  }
  return { url, tokenFor }
}

async function newKey(alg: string) {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: `the ${alg} key` }
}

describe('JWTIssuer', () => {
  test('accepts the access tokens of node-oidc-provider for its audience, with each algorithm', async (t) => {
    const provider = await startProvider(t)
    const issuer = new JWTIssuer({ issuer: provider.url, audience: 'https://api.example' })
    const app = new Koa()
    app.use(auth())
    app.use(AccessToken.authenticator(issuer))
    app.use(guard(AccessToken))
    app.use((ctx) => {
      const { subject, scopes, claims } = ctx.auth.require(AccessToken)
      ctx.body = { subject, scopes, client: claims.client_id }
    })
    const { url } = await serve(t, app)
    const get = (token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } })

    for (const alg of algorithms) {
      const response = await get(await provider.tokenFor(`https://api.example/${alg}`))
      assert.equal(response.status, 200, alg)
      assert.deepEqual(await response.json(), { subject: 'robot', scopes: ['read'], client: 'robot' })
    }
    assert.equal((await get(await provider.tokenFor('https://other.example'))).status, 401)
  })
})
