import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PendingLimit } from './pending-limit.ts'

const unknown = { isKnownDevice: false }

describe('PendingLimit', () => {
  it('admits a hundred attempts with one key, two hundred in all, and more when some have ended', () => {
    const pending = new PendingLimit()
    const admitted = (key: string) =>
      Array.from({ length: 150 }, () => pending.enter(key, unknown)).filter((leave) => leave !== undefined)
    const ada = admitted('ada')
    assert.deepEqual([ada.length, admitted('bob').length, admitted('eve').length], [100, 100, 0])
    for (const leave of ada) leave()
    assert.equal(admitted('eve').length, 100)
  })

  it('admits a known device above the total limit', () => {
    const pending = new PendingLimit()
    for (let i = 0; i < 300; i += 1) pending.enter(`${i}`, unknown)
    assert.equal(pending.enter('another', unknown), undefined)
    assert.ok(pending.enter('ada', { isKnownDevice: true }))
  })
})
