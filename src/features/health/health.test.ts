import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { failWrites, sql } from '../../testing/database.ts'
import { startSite } from '../../testing/site.ts'

describe('GET /readyz?write', () => {
  test('stores one row, and stores none without the query', async (t) => {
    const site = await startSite(t)
    const rows = () => sql(site, 'select id from attempts')
    assert.equal((await site.visitor().get('/readyz')).status, 200)
    assert.deepEqual(await rows(), [])
    for (let count = 0; count < 3; count += 1)
      assert.equal((await site.visitor().get('/readyz?write')).status, 200)
    assert.deepEqual(await rows(), [{ id: 'readyz' }])
  })

  test('responds with 503 while the database takes no writes, unlike /readyz', async (t) => {
    const site = await startSite(t)
    await failWrites(site, 'insert', 'attempts')
    assert.equal((await site.visitor().get('/readyz?write')).status, 503)
    assert.equal((await site.visitor().get('/readyz')).status, 200)
  })
})
