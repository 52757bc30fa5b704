import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { groupsOf } from './groups.ts'
import { newKeys } from './keys.ts'
import { type Load, type LoadOptions, load, type Measured } from './load.ts'
import { serverCore } from './machine.ts'
import { median } from './median.ts'
import { type Running, start } from './server-process.ts'
import type { Server } from './servers.ts'
import { check, loadOf, type Task } from './tasks.ts'

/** How long to measure. */
export interface Pace {
  /** Seconds until the compiler has seen enough: the more code there is, the longer that takes. */
  readonly warmUp: number
  /** How often the servers are started: how fast one is differs from start to start. */
  readonly starts: number
  /** How often they take turns each time. */
  readonly rounds: number
  readonly seconds: number
}

/** What came of a server: its median, and its capacity in each turn, to be compared with that of others in the same round. */
export interface Standing extends Measured {
  readonly turns: readonly number[]
}

// Seconds until a server is as it was before its pause: meanwhile others had the processor's caches.
const again = 1
// Seconds until it is written down who was seen.
const untilWritten = 1.5

/** The requests a second of each server, started several times, in several rounds in which those of a group take turns. */
export async function takeTurns(
  task: Task,
  servers: readonly Server[],
  { starts, ...pace }: Pace,
): Promise<Record<string, Standing>> {
  const turns = new Map<Server, Measured[]>(servers.map((server) => [server, []]))
  for (let start = 0; start < starts; start += 1) {
    for (const group of groupsOf(task, servers))
      for (const { running, turns: more } of await startedOnce(task, group, pace))
        turns.get(running.server)?.push(...more)
  }
  return Object.fromEntries(servers.map((server) => [server.key, standing(turns.get(server) ?? [])]))
}

async function startedOnce(
  task: Task,
  servers: readonly Server[],
  { warmUp, rounds, seconds }: Omit<Pace, 'starts'>,
): Promise<Contestant[]> {
  const keys = newKeys(task.algorithm ?? 'HS256')
  const all: Contestant[] = []
  try {
    for (const server of servers) {
      all.push({
        running: await start(server, keys, { core: serverCore }),
        asked: loadOf(task, server, keys),
        turns: [],
      })
    }
    for (const { running } of all) await named(running, check(task, running.server, running.url, keys))
    for (const each of all) {
      if (task.isDue) each.running.age()
      await run(each, warmUp)
    }
    // Whoever was first has rested while the others were warmed up.
    for (const each of all) await run(each, again)
    for (let round = 0; round < rounds; round += 1) {
      // The same for all, and never what was asked for before.
      const seed = randomInt(2 ** 31)
      for (const each of rotated(all, round)) {
        if (task.isDue) {
          // What is still to be written of that is no part of what is measured.
          await sleep(untilWritten * 1000)
          each.running.age()
        }
        each.turns.push(await run(each, seconds, { seed, rest: task.isDue ? untilWritten : 0 }))
      }
    }
  } finally {
    await Promise.all(all.map(({ running }) => running.stop()))
  }
  return all
}

interface Contestant {
  readonly running: Running
  readonly asked: Load
  readonly turns: Measured[]
}

function run({ running, asked }: Contestant, seconds: number, options?: LoadOptions): Promise<Measured> {
  return named(running, load(running, asked, seconds, options))
}

/** Nobody always comes first, or always after the same one. */
function rotated(all: readonly Contestant[], round: number): Contestant[] {
  const first = round % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}

function standing(turns: readonly Measured[]): Standing {
  const of = (figure: keyof Measured) => median(turns.map((turn) => turn[figure]))
  return {
    rate: of('rate'),
    capacity: of('capacity'),
    share: of('share'),
    p50: of('p50'),
    p99: of('p99'),
    turns: turns.map(({ capacity }) => capacity),
  }
}

async function named<Result>({ server: { name } }: Running, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}
