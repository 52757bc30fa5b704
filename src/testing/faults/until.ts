import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { scaledLimit } from '../scaled-limit.ts'

/** Waits until a condition is true, for up to ten seconds, scaled by the load of the machine. */
export async function until(condition: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + scaledLimit(10) * 1000; !(await isTrue()); await sleep(10))
    assert.ok(performance.now() < end, `never: ${condition}`)
}
