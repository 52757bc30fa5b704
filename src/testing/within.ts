import assert from 'node:assert/strict'
import { scaledLimit } from './scaled-limit.ts'

/** Asserts that work takes less than this many seconds, scaled by the load of the machine. */
export async function within<Result>(seconds: number, work: Promise<Result>): Promise<Result> {
  const start = performance.now()
  const result = await work
  const took = (performance.now() - start) / 1000
  assert.ok(took < scaledLimit(seconds), `the work took ${took} s`)
  return result
}

/** Waits until a condition is true, for up to five seconds, scaled by the load of the machine. */
export async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + scaledLimit(5) * 1000; !(await isTrue()); )
    assert.ok(performance.now() < end, 'the condition is still false')
}
