import assert from 'node:assert/strict'
import { quiet } from './quiet.ts'

/** Asserts that it takes less than so many seconds of a quiet machine. */
export async function within<Result>(seconds: number, work: Promise<Result>): Promise<Result> {
  const start = performance.now()
  const result = await work
  const took = (performance.now() - start) / 1000
  assert.ok(took < quiet(seconds), `it took ${took} s`)
  return result
}

/** Waits until it is so, for five seconds of a quiet machine at most. */
export async function soon(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + quiet(5) * 1000; !(await isSo()); )
    assert.ok(performance.now() < end, 'not within five seconds')
}
