import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic, bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

describe('examples/roles.ts', () => {
  const program = example('roles.ts')
  const ada = basic('ada', 'analytical-engine')
  const grace = basic('grace', 'moth-in-the-relay')

  async function get(path: string, headers: Record<string, string>): Promise<string> {
    const response = await fetch(program.url + path, { headers })
    return response.ok ? response.text() : String(response.status)
  }

  test('lets only staff see the reports', async () => {
    assert.equal(await get('/reports', grace), 'The reports for Grace')
    assert.equal(await get('/reports', ada), '403')
    assert.equal(await get('/reports', {}), '401')
  })

  test('lets only the owner see a note', async () => {
    assert.equal(await get('/notes/1', ada), 'The note of Ada')
    assert.equal(await get('/notes/1', grace), '404')
  })

  test('lets only a token with the scope see the orders', async () => {
    assert.equal(await get('/orders', bearer('bernoulli-numbers')), 'The orders of Ada')
    assert.equal(await get('/orders', bearer('difference-engine')), '403')
    assert.equal(await get('/orders', ada), '401')
  })

  test('lets nobody see the payments without a one-time code', async () => {
    assert.equal(await get('/payments', ada), '401')
  })
})
