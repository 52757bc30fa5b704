import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startSite } from '../testing/site.ts'
import { isOnPostgres } from '../testing/test-database.ts'
import { compareBytes } from './postgres/compare-bytes.ts'

describe('schema', () => {
  test('has the columns, indexes and foreign keys of the entities after the migrations', async (t) => {
    const { orm } = await startSite(t)
    if (isOnPostgres) compareBytes(orm.getMetadata())
    assert.equal(await orm.schema.getUpdateSchemaSQL({ wrap: false }), '')
  })
})
