import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { JWTKeys, SessionToken } from 'koa-authenticators/jwt'
import { bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

const secret = 'thirty-two bytes for these tests'

describe('examples/jwt-payload.ts', () => {
  const program = example('jwt-payload.ts', { environment: { JWT_SECRET: secret } })
  const post = (path: string, headers = {}) => fetch(program.url + path, { method: 'POST', headers })
  const invite = (query: string, token: string) => post(`/invitations${query}`, bearer(token))

  test('signs an invitation for an address, and accepts it', async () => {
    const response = await invite('?email=grace@example.com', 'analytical-engine')
    const { token } = (await response.json()) as { token: string }
    const joined = await post('/join', bearer(token))

    assert.equal(joined.status, 200)
    assert.equal(await joined.text(), 'Welcome, grace@example.com!')
  })

  test('creates no invitation for a wrong token, without an address, or for two addresses', async () => {
    assert.equal((await invite('?email=grace@example.com', 'wrong')).status, 401)
    assert.equal((await invite('', 'analytical-engine')).status, 400)
    assert.equal((await invite('?email=a@b.c&email=d@e.f', 'analytical-engine')).status, 400)
  })

  test('rejects a token of another class, and a modified token', async () => {
    const { token } = (await (await invite('?email=a@example.com', 'analytical-engine')).json()) as {
      token: string
    }
    const [header, , signature] = token.split('.')
    const payload = Buffer.from('{"email":"eve@example.com"}').toString('base64url')
    const issuer = 'http://localhost:3000'
    const keys = new JWTKeys({ secrets: [secret], issuer, audience: issuer })
    const session = await keys.sign(new SessionToken(crypto.randomUUID()))
    for (const sent of [`${header}.${payload}.${signature}`, session, 'analytical-engine'])
      assert.equal((await post('/join', bearer(sent))).status, 401)
    assert.equal((await post('/join')).status, 401)
  })
})
