import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic, bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

describe('examples/legacy.ts', () => {
  const program = example('legacy.ts')
  const getMe = (headers = {}) => fetch(`${program.url}/me`, { headers })

  test('S41 S42 S61 returns the name for a stored token, as text/plain', async () => {
    const response = await getMe(bearer('analytical-engine'))

    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain\b/)
    assert.equal(await response.text(), 'Ada')
  })

  test('A8 S63 S98 responds with the same 403 to an unknown token, another scheme and no header', async () => {
    for (const headers of [
      bearer('difference-engine'),
      bearer('ANALYTICAL-ENGINE'),
      basic('analytical-engine', ''),
      {},
    ]) {
      const response = await getMe(headers)

      assert.equal(response.status, 403)
      assert.equal(response.headers.get('www-authenticate'), null)
      assert.equal(await response.text(), 'You may not see this.')
    }
  })
})
