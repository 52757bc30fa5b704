import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic, bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

describe('examples/bearer.ts', () => {
  const program = example('bearer.ts')
  const get = (path: string, headers = {}) => fetch(program.url + path, { headers })

  test('S61 returns the name of the user of each token', async () => {
    for (const [token, name] of [
      ['analytical-engine', 'Ada'],
      ['moth-in-the-relay', 'Grace'],
    ] as const) {
      const response = await get('/me', bearer(token))

      assert.equal(response.status, 200)
      assert.match(response.headers.get('content-type') ?? '', /^text\/plain\b/)
      assert.equal(await response.text(), name)
    }
  })

  test('rejects another token, the digest of a token, another scheme, and a request without a header', async () => {
    const digest = '60f692dfae0227420bd015f053155102a6e1ccf83655fe6a060a32d721e826bd'
    for (const [headers, challenge] of [
      [bearer('difference-engine'), 'Bearer realm="restricted", error="invalid_token"'],
      [bearer(digest), 'Bearer realm="restricted", error="invalid_token"'],
      [basic('ada', 'analytical-engine'), 'Bearer realm="restricted"'],
      [{}, 'Bearer realm="restricted"'],
    ] as const) {
      const response = await get('/me', headers)

      assert.equal(response.status, 401)
      assert.equal(response.headers.get('www-authenticate'), challenge)
    }
  })

  test('greets users by name on the public page, and other visitors as strangers', async () => {
    assert.equal(await (await get('/', bearer('analytical-engine'))).text(), 'Hello, Ada!')
    assert.equal(await (await get('/', bearer('difference-engine'))).text(), 'Hello, stranger!')
    assert.equal(await (await get('/')).text(), 'Hello, stranger!')
  })
})
