import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { postgres } from './postgres.ts'

describe('explain', () => {
  test('N1 says in one sentence that a server is read-only, or that a pooler allows no transactions', () => {
    const { explain } = postgres('postgres://ada:secret@db.example/site')
    assert.equal(
      explain(Object.assign(new Error('no'), { code: '25006' })),
      'The database postgres://db.example/site is read-only, for example because its server is a standby. Use the primary in DATABASE_URL.',
    )
    assert.equal(
      explain(Object.assign(new Error('no'), { code: '08P01' })),
      'The pooler in front of the database postgres://db.example/site allows no transactions. Use its transaction mode or its session mode.',
    )
  })
})
