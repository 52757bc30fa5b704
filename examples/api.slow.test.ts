import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic, bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

describe('examples/api.ts', () => {
  const program = example('api.ts')
  const password = basic('ada@example.org', 'analytical-engine')
  const send = (method: string, path: string, headers = {}) => fetch(program.url + path, { method, headers })
  const makeToken = async () =>
    ((await (await send('POST', '/tokens', password)).json()) as { token: string }).token

  test('exchanges the password for a token, and accepts both', async () => {
    const created = await send('POST', '/tokens', password)
    const { token, expiresAt } = (await created.json()) as { token: string; expiresAt: string }

    assert.equal(created.status, 201)
    assert.equal(Buffer.from(token, 'base64url').length, 32)
    assert.ok(Date.parse(expiresAt) > Date.now())
    for (const headers of [bearer(token), password]) {
      const me = await send('GET', '/me', headers)
      assert.equal(me.status, 200)
      assert.deepEqual(await me.json(), { id: 1, email: 'ada@example.org' })
    }
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

  test('does not exchange a token for another token', async () => {
    assert.equal((await send('POST', '/tokens', bearer(await makeToken()))).status, 401)
  })

  test('deletes the tokens of the user', async () => {
    const token = await makeToken()
    assert.equal((await send('DELETE', '/tokens', password)).status, 204)

    assert.equal((await send('GET', '/me', bearer(token))).status, 401)
  })
})
