import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { killAgainAndAgain } from '../testing/faults/killed.ts'
import { temporaryFolder } from '../testing/server-process.ts'

describe('a server that is killed', () => {
  test('N5 has lost nothing that it acknowledged, and no session that was ended is back, whenever it was', async (t) => {
    assert.ok((await killAgainAndAgain(t, await temporaryFolder(t), 3)) > 60)
  })
})
