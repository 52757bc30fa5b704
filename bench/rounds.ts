import { randomInt } from 'node:crypto'
import { checkAnswers } from './check-answers.ts'
import { secondsWithoutWrites } from './database.ts'
import { newKeys } from './keys.ts'
import { load, type Requests, requestsOf } from './load.ts'
import { serverCore } from './machine.ts'
import type { Figures } from './results.ts'
import type { RunningServer } from './server-process.ts'
import { type Server, startServer } from './servers.ts'
import type { Task } from './tasks.ts'

/** How long a measurement takes. */
export interface RunLength {
  /** Seconds of load for each server after each start, before the rounds, so that V8 compiles the hot functions. */
  readonly warmUp: number
  /** How often each server is started. A server's speed differs between starts. */
  readonly starts: number
  /** Rounds after each start. In a round, each server is loaded for one second. */
  readonly rounds: number
}

/** Measures the requests per second of each server in each round. In a round, the servers are measured one after another. */
export async function measureRounds(
  task: Task,
  servers: readonly Server[],
  runLength: RunLength,
): Promise<Figures> {
  const figures: Figures = {}
  for (let start = 0; start < runLength.starts; start += 1) {
    // Alternates the order, because the order of the starts may affect the figures.
    const ordered = start % 2 === 0 ? servers : servers.toReversed()
    await startOnce(task, ordered, runLength, figures)
  }
  return figures
}

interface LoadedServer {
  readonly running: RunningServer
  readonly requests: Requests
}

async function startOnce(
  task: Task,
  servers: readonly Server[],
  { warmUp, rounds }: RunLength,
  figures: Figures,
): Promise<void> {
  const keys = newKeys(task.algorithm ?? 'HS256')
  const all: LoadedServer[] = []
  let begin: number | undefined
  try {
    for (const server of servers) {
      const running = await startServer(server, keys, serverCore)
      begin ??= performance.now()
      all.push({ running, requests: await requestsOf(task, server, keys) })
      await checkAnswers(task, server, running.url, keys)
    }
    for (const { running, requests } of all) await load(running, requests, warmUp * (task.warmUps ?? 1))
    for (let round = 0; round < rounds; round += 1) {
      if (performance.now() - (begin ?? 0) > secondsWithoutWrites * 1000) {
        console.warn(
          `Stopped after ${round} rounds, because the servers write last uses after ${secondsWithoutWrites} seconds.`,
        )
        break
      }
      // With wrk, all servers of a round get the same requests.
      const seed = randomInt(2 ** 31)
      for (const { running, requests } of rotated(all, round)) {
        const { rate } = await load(running, requests, 1, seed)
        figures[running.key] = [...(figures[running.key] ?? []), rate]
      }
    }
  } finally {
    await Promise.all(all.map(({ running }) => running.stop()))
  }
}

function rotated(all: readonly LoadedServer[], round: number): LoadedServer[] {
  const first = round % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}
