import { newKeys } from './keys.ts'
import { load, type Measured } from './load.ts'
import { serverCore } from './machine.ts'
import { type Running, start } from './server-process.ts'
import { ours, type Server } from './servers.ts'
import { check, loadOf, type Task } from './tasks.ts'

/** How long to measure. */
export interface Pace {
  readonly rounds: number
  readonly seconds: number
}

/** The requests a second of each server, the median of several rounds in which they take turns. */
export async function takeTurns(
  task: Task,
  servers: readonly Server[],
  { rounds, seconds }: Pace,
): Promise<Record<string, Measured>> {
  const keys = newKeys(task.algorithm ?? 'HS256')
  const running: Running[] = []
  const measured = new Map<Server, Measured[]>(servers.map((server) => [server, []]))
  try {
    for (const server of servers) running.push(await start(server, keys, { core: serverCore }))
    for (const { server, url } of running) await named(server, check(task, server, url, keys))
    for (let round = 0; round < rounds; round += 1) {
      for (const each of running) {
        const { server, database } = each
        const { refresh } = server.rows ?? ours
        const asked = loadOf(task, server, keys)
        refresh(database)
        // The first time, until the compiler has seen enough; later, until the caches are warm again.
        await named(server, load(each, asked, round === 0 ? 8 : 1))
        measured.get(server)?.push(await named(server, load(each, asked, seconds)))
      }
    }
  } finally {
    await Promise.all(running.map((each) => each.stop()))
  }
  return Object.fromEntries([...measured].map(([{ key }, all]) => [key, median(all)]))
}

function median(all: readonly Measured[]): Measured {
  const sorted = all.toSorted((a, b) => a.capacity - b.capacity)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (!middle) throw new Error('Nothing was measured.')
  return middle
}

async function named<Result>({ name }: Server, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}
