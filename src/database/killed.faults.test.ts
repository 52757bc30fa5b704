import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { killRepeatedly } from '../testing/faults/killed.ts'
import { temporaryFolder } from '../testing/server-process.ts'

describe('a killed server', () => {
  test('N5 loses no acknowledged change, and restores no ended session', async (t) => {
    const acknowledged = await killRepeatedly(t, await temporaryFolder(t), 3)
    assert.ok(acknowledged > 60, `only ${acknowledged} changes were acknowledged`)
  })
})
