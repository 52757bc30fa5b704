import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { JWTKeys, JWTPayload } from 'koa-authenticators/jwt'
import { bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

class ProviderToken extends JWTPayload {
  static readonly lifetime = 60
  static override readonly typ = 'at+jwt'
  readonly sub = 'ada'
  readonly scope: string

  constructor(scope: string, expiration = new Date(Date.now() + 60_000)) {
    super(expiration)
    this.scope = scope
  }

  static parse({ scope }: { scope?: unknown }, expiration: Date) {
    return new ProviderToken(String(scope), expiration)
  }
}

describe('examples/jwt-issuer.ts', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const environment = { ISSUER: '' }
  const provider = createServer(({ url }, response) => {
    const issuer = environment.ISSUER
    const keys = { keys: [{ ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: 'a' }] }
    response.end(JSON.stringify(url === '/jwks' ? keys : { issuer, jwks_uri: `${issuer}/jwks` }))
  })
  before(async () => {
    provider.listen(0, '127.0.0.1')
    await once(provider, 'listening')
    environment.ISSUER = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  })
  after(() => provider.closeAllConnections())
  after(() => provider.close())
  const program = example('jwt-issuer.ts', { environment })

  const tokenFor = (audience: string, scope: string) => {
    const keys = [{ ...privateKey.export({ format: 'jwk' }), kid: 'a' }]
    return new JWTKeys({ keys, issuer: environment.ISSUER, audience }).sign(new ProviderToken(scope))
  }
  const getOrders = (token: string) => fetch(`${program.url}/orders`, { headers: bearer(token) })

  test('accepts a token of the provider for its audience and scope', async () => {
    const response = await getOrders(await tokenFor('https://api.example.com', 'openid read:orders'))
    assert.equal(await response.text(), 'The orders of ada')
    assert.equal((await getOrders(await tokenFor('https://api.example.com', 'read'))).status, 403)
    assert.equal((await getOrders(await tokenFor('https://other.example', 'read:orders'))).status, 401)
  })
})
