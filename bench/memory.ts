import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { usual } from './data.ts'
import { database } from './database.ts'
import { type Keys, newKeys } from './keys.ts'
import { load } from './load.ts'
import { serverCore } from './machine.ts'
import { type ResidentMemory, residentMemory } from './processor.ts'
import { type Running, start } from './server-process.ts'
import { ours, type Server, serverOf } from './servers.ts'
import { loadOf, taskOf } from './tasks.ts'

/** Resident memory of the site, in megabytes. */
export interface MemoryResult {
  /** Of a site that has just been started, each time. */
  readonly atRest: number[]
  /** What of that are pages of files. */
  readonly filesAtRest: number[]
  /** After each quarter of the requests, of which there are so many. */
  readonly quarters: number[]
  readonly requests: number
  /** What 100,000 sessions take that are asked with at random, beyond a hundred: in the process, and in the database. */
  readonly sessions: { readonly process: number; readonly file: number }
}

/** Half of the requests bring bearer tokens, half are for pages of people with a session. */
export async function measureMemory(wanted: number, starts: number): Promise<MemoryResult> {
  const site = serverOf('site')
  const keys = newKeys('HS256')
  const asked = ['bearer', 'session'].map((key) => loadOf(taskOf(key), site, keys))
  const rested: ResidentMemory[] = []
  for (let time = 0; time < starts; time += 1) rested.push(await memoryAtRest(site, keys))
  const running = await start(site, keys, { core: serverCore })
  const quarters: number[] = []
  let requests = 0
  try {
    for (let quarter = 1; quarter <= 4; quarter += 1) {
      while (requests < (wanted * quarter) / 4)
        for (const each of asked) requests += (await load(running, each, 2)).rate * 2
      quarters.push(megabytes(running))
    }
  } finally {
    await running.stop()
  }
  return {
    atRest: rested.map(({ all }) => all),
    filesAtRest: rested.map(({ files }) => files),
    quarters,
    requests: Math.round(requests),
    sessions: await measureSessions(),
  }
}

async function memoryAtRest(site: Server, keys: Keys): Promise<ResidentMemory> {
  const running = await start(site, keys, { core: serverCore })
  try {
    await sleep(2000)
    return residentMemory(running.pid) ?? { all: Number.NaN, files: Number.NaN }
  } finally {
    await running.stop()
  }
}

/** The same requests to the same site, over a hundred sessions and over a hundred thousand. */
async function measureSessions(): Promise<MemoryResult['sessions']> {
  const many = { ...usual, sessions: 100_000 }
  const few = { ...usual, sessions: 100 }
  const taken = []
  for (const amounts of [few, many]) {
    const rows = { database: () => database(amounts), refresh: ours.refresh }
    const site = { ...serverOf('site'), rows }
    const running = await start(site, newKeys('HS256'), { core: serverCore })
    try {
      const { cookie } = site
      const values = () => Array.from({ length: amounts.sessions }, (_, number) => cookie(number))
      await load(running, loadOf({ ...taskOf('session'), values }, site, newKeys('HS256')), 20)
      taken.push(megabytes(running))
    } finally {
      await running.stop()
    }
  }
  const [one = Number.NaN, other = Number.NaN] = taken
  const size = async (amounts: typeof usual) => statSync(await database(amounts)).size / 1024 / 1024
  return { process: other - one, file: (await size(many)) - (await size(few)) }
}

function megabytes({ pid }: Running): number {
  return residentMemory(pid)?.all ?? Number.NaN
}
