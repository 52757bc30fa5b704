import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic, bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

describe('examples/models.ts', () => {
  const program = example('models.ts')

  test('exchanges the password for a token, which is valid until it is deleted, and shows no hash', async () => {
    const logIn = (name: string, password: string) =>
      fetch(`${program.url}/login`, { method: 'POST', headers: basic(name, password) })
    const me = (token: string) => fetch(`${program.url}/me`, { headers: bearer(token) })

    assert.equal((await logIn('ada@example.org', 'difference-engine')).status, 401)
    assert.equal((await logIn('eve@example.org', 'analytical-engine')).status, 401)
    const { token } = (await (await logIn('ada@example.org', 'analytical-engine')).json()) as {
      token: string
    }

    const user = (await (await me(token)).json()) as object
    assert.deepEqual(Object.keys(user), ['id', 'email'])
    assert.equal((await me('difference-engine')).status, 401)

    const deleted = await fetch(`${program.url}/token`, { method: 'DELETE', headers: bearer(token) })
    assert.equal(deleted.status, 204)
    assert.equal((await me(token)).status, 401)
  })
})
