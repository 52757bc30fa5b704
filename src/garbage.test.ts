import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { collectGarbage } from './garbage.ts'

describe('collectGarbage', () => {
  test('gives back what nobody needs any more', async () => {
    const [needed, unneeded] = [somethingLarge(), somethingLarge()]
    const kept = needed.deref()
    await collectGarbage()
    assert.ok(kept && needed.deref() === kept)
    assert.equal(unneeded.deref(), undefined)
  })
})

// By a function of its own, so that no place of the test's keeps it.
function somethingLarge(): WeakRef<unknown[]> {
  return new WeakRef(new Array(100_000).fill('large'))
}
