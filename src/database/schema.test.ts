import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startSite } from '../testing/site.ts'

describe('schema', () => {
  test('has the columns, indexes and foreign keys of the entities after the migrations', async (t) => {
    const { orm } = await startSite(t)
    assert.equal(await orm.schema.getUpdateSchemaSQL({ wrap: false }), '')
  })
})
