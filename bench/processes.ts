import { randomInt } from 'node:crypto'
import { newKeys } from './keys.ts'
import { type Load, load } from './load.ts'
import { cores } from './machine.ts'
import { copy, type Running, start } from './server-process.ts'
import { ours, serverOf } from './servers.ts'
import { loadOf, taskOf } from './tasks.ts'
import type { Pace } from './turns.ts'

/** What two processes of the site do with bearer tokens that they look up in one database. */
export interface ProcessesResult {
  /** How many times as many requests they answer as one does, in each round. */
  readonly ratios: readonly number[]
  /** Whether that one had the machine to itself. Where there are no cores to spare it is one of two that have a database each. */
  readonly isAlone: boolean
}

// On either core a server, and what asks the server of the other.
const seats = [
  { core: 0, loadCore: 1 },
  { core: 1, loadCore: 0 },
]
// The same where the load has cores of its own.
const spareSeats = [
  { core: 0, loadCore: 2 },
  { core: 1, loadCore: 3 },
]

interface Seated {
  readonly running: Running
  readonly asked: Load
  readonly loadCore: number
}

/**
 * How much more two processes do than one. That takes two cores for them and two for the load. Where there are but two, each has a
 * server and the load of the other, and two that share a database are compared with two that share all else, too, but have a
 * database each: what is less then is what the database takes.
 *
 * @returns `undefined` on a machine with one core
 */
export async function measureProcesses({
  warmUp,
  starts,
  rounds,
  seconds,
}: Pace): Promise<ProcessesResult | undefined> {
  if (cores < 2) return undefined
  const isAlone = cores >= 4
  const ratios: number[] = []
  for (let time = 0; time < starts; time += 1) {
    const [together, apart] = await seated(isAlone)
    try {
      const inTurns = (turn: number) => (turn % 2 === 0 ? [together, apart] : [apart, together])
      for (const group of inTurns(time)) await rate(group, warmUp)
      for (let round = 0; round < rounds; round += 1) {
        const rates = new Map<readonly Seated[], number>()
        for (const group of inTurns(round)) {
          // Until they are as they were before their pause.
          await rate(group, 1)
          rates.set(group, await rate(group, seconds))
        }
        ratios.push((rates.get(together) ?? Number.NaN) / ((rates.get(apart) ?? Number.NaN) / apart.length))
      }
    } finally {
      await Promise.all([...together, ...apart].map(({ running }) => running.stop()))
    }
  }
  return { ratios, isAlone }
}

/** Two processes on one database, and what they are compared with. */
async function seated(isAlone: boolean): Promise<[together: Seated[], apart: Seated[]]> {
  const site = serverOf('site')
  const keys = newKeys('HS256')
  const asked = loadOf(taskOf('bearer'), site, keys)
  const original = await ours.database()
  const seat = async ({ core, loadCore }: { core: number; loadCore: number }, shared: string) => {
    const running = await start(site, keys, { core, shared })
    return { running, asked, loadCore }
  }
  const database = (name: string) => {
    const path = copy(original, name)
    ours.refresh(path)
    return path
  }
  const shared = database('two-processes')
  const together: Seated[] = []
  for (const each of isAlone ? spareSeats : seats) together.push(await seat(each, shared))
  if (isAlone) return [together, together.slice(0, 1)]
  const apart: Seated[] = []
  for (const [i, each] of seats.entries()) apart.push(await seat(each, database(`own-${i}`)))
  return [together, apart]
}

/** The answers a second of all of them, asked at the same time. */
async function rate(all: readonly Seated[], seconds: number): Promise<number> {
  const seed = randomInt(2 ** 31)
  const measured = all.map(({ running, asked, loadCore }) =>
    load(running, asked, seconds, { seed, core: loadCore }),
  )
  return (await Promise.all(measured)).reduce((sum, { rate }) => sum + rate, 0)
}
