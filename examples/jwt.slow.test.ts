import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { JWTKeys, SessionToken } from 'koa-authenticators/jwt'
import { basic, bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

const secret = 'thirty-two bytes for these tests'
const keys = { secrets: [secret], issuer: 'http://localhost:3000', audience: 'http://localhost:3000' }

describe('examples/jwt.ts', () => {
  const program = example('jwt.ts', { environment: { JWT_SECRET: secret } })
  const post = (path: string, headers = {}) => fetch(program.url + path, { method: 'POST', headers })
  const right = basic('ada', 'analytical-engine')

  test('S56 exchanges the right password for a token with a lifetime of 15 minutes, and rejects a wrong password with 401', async () => {
    const response = await post('/login', right)
    const { token, ...others } = (await response.json()) as { token: string }

    assert.equal(response.status, 200)
    assert.deepEqual(others, {})
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    assert.equal(payload.exp - payload.iat, 900)
    assert.match(payload.userId, /^[\da-f-]{36}$/)
    assert.equal(await (await post('/validateLoggedInUser', bearer(token))).text(), '')
    for (const headers of [basic('ada', 'wrong'), basic('eve', 'analytical-engine'), bearer(token), {}])
      assert.equal((await post('/login', headers)).status, 401)
  })

  test('rejects an expired token, a token signed with another key, the password, and a request without credentials', async () => {
    const old = new JWTKeys({ ...keys, now: () => Date.now() - 900_000 })
    const expired = await old.sign(new SessionToken(crypto.randomUUID(), new Date()))
    const otherKeys = new JWTKeys({ ...keys, secrets: ['thirty-two bytes of another application'] })
    const forged = await otherKeys.sign(new SessionToken(crypto.randomUUID()))
    for (const headers of [bearer(expired), bearer(forged), bearer('wrong'), right, {}]) {
      const response = await post('/validateLoggedInUser', headers)

      assert.equal(response.status, 401)
      assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer realm="restricted"/)
    }
  })
})
