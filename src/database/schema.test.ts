import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startSite } from '../testing/site.ts'

describe('the schema', () => {
  test('is what the entities say once it is migrated: column by column, with every index and foreign key', async (t) => {
    const { orm } = await startSite(t)
    assert.equal(await orm.schema.getUpdateSchemaSQL({ wrap: false }), '')
  })
})
