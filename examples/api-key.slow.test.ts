import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

describe('examples/api-key.ts', () => {
  const program = example('api-key.ts')
  const getMe = (headers = {}) => fetch(`${program.url}/me`, { headers })

  test('responds with 401 to another key, an empty key, another header and no header', async () => {
    for (const headers of [
      { 'x-api-key': 'difference-engine' },
      { 'x-api-key': '' },
      bearer('analytical-engine'),
      {},
    ]) {
      const response = await getMe(headers)

      assert.equal(response.status, 401)
      assert.equal(response.headers.get('www-authenticate'), null)
    }
  })
})
