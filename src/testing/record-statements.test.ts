import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordStatements } from './record-statements.ts'
import { startSite } from './site.ts'
import { onlyPostgres } from './test-database.ts'

test('recordStatements records a read when its result arrives', onlyPostgres, async (t) => {
  const { orm } = await startSite(t)
  const statements = await recordStatements(t, orm)
  const read = orm.em.getConnection().execute('select pg_sleep(0.4)')
  await sleep(200)
  assert.deepEqual(statements, [])
  await read
  assert.deepEqual(statements, ['select pg_sleep(0.4)'])
})
