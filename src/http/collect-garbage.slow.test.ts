import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { startServer, temporaryFolder } from '../testing/server-process.ts'
import { eventually } from '../testing/within.ts'

describe('collectGarbageOfStart', () => {
  test('returns more than 15 MB to the system soon after the start', async (t) => {
    if (process.platform !== 'linux') return t.skip('Only Linux has /proc.')
    const { child } = await startServer(t, { DATA_DIR: await temporaryFolder(t) })
    const atStart = await residentMemory(child.pid)
    await eventually(async () => (await residentMemory(child.pid)) < atStart - 15)
  })
})

/** Resident memory of a process in megabytes. */
async function residentMemory(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}
