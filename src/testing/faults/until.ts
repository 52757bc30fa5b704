import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { quiet } from '../quiet.ts'

/** Waits until it is so. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + quiet(10) * 1000; !(await isSo()); await sleep(10))
    assert.ok(performance.now() < end, `never: ${what}`)
}
