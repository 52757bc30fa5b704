import { newKeys } from './keys.ts'
import { load } from './load.ts'
import { cores } from './machine.ts'
import { copy, start } from './server-process.ts'
import { ours, serverOf } from './servers.ts'
import { loadOf, taskOf } from './tasks.ts'

/** How many times as many bearer tokens two processes of the site look up as one, on one database. */
export async function measureProcesses(seconds: number): Promise<number | undefined> {
  // Two for the servers, two for the load.
  if (cores < 4) return undefined
  const site = serverOf('site')
  const keys = newKeys('HS256')
  const shared = copy(await ours.database(), 'two-processes')
  const one = await start(site, keys, { core: 0, shared })
  const two = await start(site, keys, { core: 1, shared })
  try {
    const asked = loadOf(taskOf('bearer'), site, keys)
    ours.refresh(shared)
    await Promise.all([load(one, asked, 3, { core: 2 }), load(two, asked, 3, { core: 3 })])
    const alone = await load(one, asked, seconds, { core: 2 })
    const together = await Promise.all([
      load(one, asked, seconds, { core: 2 }),
      load(two, asked, seconds, { core: 3 }),
    ])
    return together.reduce((sum, { rate }) => sum + rate, 0) / alone.rate
  } finally {
    await Promise.all([one.stop(), two.stop()])
  }
}
