import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RepeatFilter } from './repeat-filter.ts'

const quarter = 15 * 60_000

describe('RepeatFilter', () => {
  test('isDue returns true once in 15 minutes for a key', () => {
    let now = 0
    const filter = new RepeatFilter(quarter, () => now)
    const due = () => filter.isDue('a')
    assert.deepEqual([due(), due()], [true, false])
    now = quarter - 1
    assert.equal(due(), false)
    now = quarter
    assert.deepEqual([due(), due()], [true, false])
  })

  test('isDue returns true only if all given keys are due', () => {
    const filter = new RepeatFilter(quarter, () => 0)
    assert.deepEqual(
      [filter.isDue('a', 'b'), filter.isDue('a', 'c'), filter.isDue('c', 'b'), filter.isDue('c', 'd')],
      [true, false, false, true],
    )
  })

  test('P2 stores a bounded number of keys, and returns false for new keys when it is full', () => {
    let now = 0
    const filter = new RepeatFilter(quarter, () => now)
    const due = Array.from({ length: 20_000 }, (_, i) => filter.isDue(`${i}`)).filter(Boolean)
    assert.equal(due.length, 10_000)
    assert.equal(filter.isDue('0'), false, 'new keys do not evict stored ones')
    now = quarter
    assert.equal(filter.isDue('another'), true)
  })

  test('P4 deletes times in the future', () => {
    let now = 400 * 24 * 60 * 60_000
    const filter = new RepeatFilter(quarter, () => now)
    filter.isDue('ada')
    now = 0
    assert.equal(filter.isDue('ada'), true)
  })
})
