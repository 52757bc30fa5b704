import { setTimeout as sleep } from 'node:timers/promises'
import { newKeys } from './keys.ts'
import { load, requestsOf } from './load.ts'
import { serverCore } from './machine.ts'
import { median } from './median.ts'
import { residentMemory } from './processor.ts'
import type { Figures } from './results.ts'
import { serverOf, startServer } from './servers.ts'
import { taskOf } from './tasks.ts'

const site = serverOf('site')
const keys = newKeys('HS256')

/**
 * Resident memory of the site in megabytes: two seconds after a start, after a quarter of the requests, and after all. The last two are
 * medians of ten samples. The load alternates every two seconds between requests with bearer tokens and pages with a session.
 */
export async function measureMemory(requests: number, starts: number): Promise<Figures> {
  const atRest: number[] = []
  for (let start = 0; start < starts; start += 1) atRest.push(await measureAtRest())
  const [quarter, all] = await measureUnderLoad(requests)
  return { 'at rest': atRest, 'after a quarter': [quarter], 'after all requests': [all] }
}

async function measureAtRest(): Promise<number> {
  const running = await startServer(site, keys, serverCore)
  try {
    await sleep(2000)
    return residentMemory(running.pid)
  } finally {
    await running.stop()
  }
}

async function measureUnderLoad(wanted: number): Promise<[number, number]> {
  const kinds = await Promise.all(['bearer', 'session'].map((key) => requestsOf(taskOf(key), site, keys)))
  const running = await startServer(site, keys, serverCore)
  let done = 0
  const loadUntil = async (end: number) => {
    const samples: number[] = []
    while (done < end) {
      for (const kind of kinds) done += (await load(running, kind, 2)).requests
      samples.push(residentMemory(running.pid))
    }
    // The memory rises until V8 collects all garbage, so one sample would depend on the time since the last collection.
    return median(samples.slice(-10))
  }
  try {
    return [await loadUntil(wanted / 4), await loadUntil(wanted)]
  } finally {
    await running.stop()
  }
}
