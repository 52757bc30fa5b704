import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NetworkLimit } from './network-limit.ts'

const minute = 60_000

describe('NetworkLimit', () => {
  test('rejects a network above the limit with 429 until the window of 15 minutes ends', () => {
    let now = 0
    const limit = new NetworkLimit(50, () => now)
    const count = () => limit.count('2001:db8::1')
    for (let i = 0; i < 50; i += 1) count()
    now = 5 * minute
    assert.throws(count, { status: 429, seconds: 600 })
    limit.count('192.0.2.1')
    now = 15 * minute
    count()
  })

  test('P2 D9 rejects few of a million other networks, and still rejects a network that has reached its limit', () => {
    const limit = new NetworkLimit(50, () => 0)
    for (let i = 0; i < 50; i += 1) limit.count('192.0.2.1')
    let refused = 0
    for (let i = 0; i < 1_000_000; i += 1) {
      try {
        limit.count(`2001:db8:${(i >> 16).toString(16)}:${(i & 0xffff).toString(16)}::1`)
      } catch {
        refused += 1
      }
    }
    assert.ok(refused < 1_000, `${refused} share a counter with a network above its limit`)
    assert.throws(() => limit.count('192.0.2.1'), { status: 429 })
  })
})
