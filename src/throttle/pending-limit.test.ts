import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Column } from './allowance.ts'
import { countersOf } from './counter.ts'
import { PendingLimit } from './pending-limit.ts'

function countersBy(by: readonly Column[], account: string) {
  const allowance = { by, limit: 10, within: 60_000, counts: ['failure'] } as const
  const values = { account, network: '192.0.2.1', block: '192.0.2.0/24', device: undefined }
  return countersOf({ action: 'password', allowances: [allowance], values }, { now: 0, isFull: false })
}

function enterAll(pending: PendingLimit, by: readonly Column[], account: string) {
  const entered = Array.from({ length: 300 }, () => pending.enter(countersBy(by, account)))
  return entered.filter((leave) => leave !== undefined)
}

describe('PendingLimit', () => {
  it('admits a hundred attempts at one account, others at another one, and more when some have ended', () => {
    const pending = new PendingLimit()
    const ada = enterAll(pending, ['account'], 'ada')
    assert.deepEqual([ada.length, enterAll(pending, ['account'], 'bob').length], [100, 100])
    for (const leave of ada) leave()
    assert.equal(enterAll(pending, ['account'], 'ada').length, 100)
  })

  it('admits two hundred attempts from one network', () => {
    assert.equal(enterAll(new PendingLimit(), ['network'], 'ada').length, 200)
  })
})
