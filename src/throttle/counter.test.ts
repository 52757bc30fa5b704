import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { rules } from './allowance.ts'
import { countersOf } from './counter.ts'
import { blockOf, networkOf } from './network.ts'

describe('countersOf', () => {
  it('P2 gives a hundred thousand networks at most 65,536 rows for each allowance while the table is full', () => {
    const { allowances } = rules.passkey
    const rows = new Set<string>()
    for (let i = 0; i < 100_000; i += 1) {
      const address = `2001:${(i >> 16).toString(16)}:${(i & 0xffff).toString(16)}::1`
      const network = { network: networkOf(address), block: blockOf(address) }
      const values = { account: undefined, device: undefined, ...network }
      const counters = countersOf({ action: 'passkey', allowances, values }, { now: 0, isFull: true })
      for (const { id } of counters) rows.add(id)
    }
    assert.ok(rows.size <= allowances.length * 65_536, `${rows.size} rows`)
  })
})
