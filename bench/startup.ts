import { newKeys } from './keys.ts'
import { start } from './server-process.ts'
import { serverOf } from './servers.ts'

/** Milliseconds from the start of the process to the first answer, its database in place: the median of several starts. */
export async function measureStartup(
  keys: readonly string[],
  rounds: number,
): Promise<Record<string, number>> {
  const taken: Record<string, number[]> = Object.fromEntries(keys.map((key) => [key, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const key of keys) {
      const { startup, stop } = await start(serverOf(key), newKeys('HS256'))
      await stop()
      taken[key]?.push(startup)
    }
  }
  return Object.fromEntries(Object.entries(taken).map(([key, all]) => [key, middle(all)]))
}

function middle(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN
}
