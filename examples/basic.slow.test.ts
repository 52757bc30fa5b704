import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic, bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

describe('examples/basic.ts', () => {
  const program = example('basic.ts')
  const logIn = (headers = {}) => fetch(`${program.url}/login`, { method: 'POST', headers })

  test('S57 returns the user for the right password, without the hash', async () => {
    const response = await logIn(basic('ada', 'analytical-engine'))

    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), { name: 'Ada' })
  })

  test('rejects a wrong password, an unknown user, a user name in another letter case, another scheme and no header', async () => {
    const refusals = [
      basic('ada', 'difference-engine'),
      basic('ada', ''),
      basic('nobody', 'analytical-engine'),
      basic('Ada', 'analytical-engine'),
      bearer('analytical-engine'),
      {},
    ]
    for (const response of await Promise.all(refusals.map(logIn))) {
      assert.equal(response.status, 401)
      assert.equal(response.headers.get('www-authenticate'), 'Basic realm="restricted", charset="UTF-8"')
      assert.doesNotMatch(await response.text(), /Ada/)
    }
  })
})
