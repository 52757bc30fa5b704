import { newKeys } from './keys.ts'
import type { Figures } from './results.ts'
import { serverOf, startServer } from './servers.ts'

/** Milliseconds from the start of the site's process to its first response, with an existing database. */
export async function measureStartup(starts: number): Promise<Figures> {
  const keys = newKeys('HS256')
  const times: number[] = []
  for (let start = 0; start < starts; start += 1) {
    const running = await startServer(serverOf('site'), keys)
    await running.stop()
    times.push(running.startup)
  }
  return { site: times }
}
