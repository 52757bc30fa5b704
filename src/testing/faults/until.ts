import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until a condition is true, however slow the machine is. The time limit of the test run ends a wait without an end. */
export async function until(_condition: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(10)
}
