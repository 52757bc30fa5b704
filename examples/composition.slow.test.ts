import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic, bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

describe('examples/composition.ts', () => {
  const program = example('composition.ts')
  const get = (path: string, headers = {}) => fetch(program.url + path, { headers })
  const userPassword = basic('ada', 'analytical-engine')
  const userToken = bearer('bernoulli-numbers')
  const adminPassword = basic('grace', 'moth-in-the-relay')
  const wrong = [basic('ada', 'moth-in-the-relay'), bearer('analytical-engine'), {}]

  test('S83 accepts a password or a token of the same user behind one guard', async () => {
    for (const headers of [userPassword, userToken]) {
      const response = await get('/me', headers)

      assert.equal(response.status, 200)
      assert.equal(await response.text(), 'Ada')
    }
  })

  test('rejects all other credentials, including the password of an admin, with a challenge for each scheme', async () => {
    const responses = await Promise.all([adminPassword, ...wrong].map((headers) => get('/me', headers)))
    for (const response of responses) {
      assert.equal(response.status, 401)
      const challenges = response.headers.get('www-authenticate') ?? ''
      assert.match(challenges, /^Basic realm="restricted", charset="UTF-8", Bearer realm="restricted"/)
    }
  })

  test('S84 accepts an admin or a user in the handler', async () => {
    for (const [headers, name] of [
      [adminPassword, 'Admin Grace'],
      [userToken, 'User Ada'],
    ] as const) {
      const response = await get('/secure', headers)

      assert.equal(response.status, 200)
      assert.equal(await response.text(), name)
    }
  })

  test('S66 rejects a request that authenticates neither an admin nor a user', async () => {
    const responses = await Promise.all(wrong.map((headers) => get('/secure', headers)))
    for (const response of responses) {
      assert.equal(response.status, 401)
      assert.doesNotMatch(await response.text(), /Admin|User/)
    }
  })
})
