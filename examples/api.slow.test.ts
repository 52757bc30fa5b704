import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic, bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

describe('examples/api.ts', () => {
  const program = example('api.ts')
  const password = basic('ada@example.org', 'analytical-engine')
  const send = (method: string, path: string, headers = {}) => fetch(program.url + path, { method, headers })

  test('exchanges the password for a token, and not a token for another token', async () => {
    const created = await send('POST', '/tokens', password)
    const { token, expiresAt } = (await created.json()) as { token: string; expiresAt: string }

    assert.equal(created.status, 201)
    assert.equal(Buffer.from(token, 'base64url').length, 32)
    assert.ok(Date.parse(expiresAt) > Date.now())
    assert.deepEqual(await (await send('GET', '/me', bearer(token))).json(), {
      id: 1,
      email: 'ada@example.org',
    })
    assert.equal((await send('POST', '/tokens', bearer(token))).status, 401)
  })

  test('rejects wrong passwords, unknown users, wrong tokens and no credentials with 401', async () => {
    for (const headers of [
      basic('ada@example.org', 'wrong'),
      basic('eve@example.org', 'analytical-engine'),
      bearer('wrong'),
      {},
    ]) {
      const response = await send('GET', '/me', headers)

      assert.equal(response.status, 401)
      assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer .*Basic realm="restricted"/)
    }
  })
})
