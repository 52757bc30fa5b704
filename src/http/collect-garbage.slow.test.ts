import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { startServer, temporaryFolder } from '../testing/server-process.ts'
import { eventually } from '../testing/within.ts'

describe('collectGarbageOfStart', () => {
  test('returns more than 15 MB to the system soon after the start', async (t) => {
    if (process.platform !== 'linux') return t.skip('Only Linux has /proc.')
    const { child } = await startServer(t, { DATA_DIR: await temporaryFolder(t) })
    const atStart = await residentMemory(child.pid)
    await eventually(async () => (await residentMemory(child.pid)) < atStart - 15)
  })

  test('keeps process.nextTick fast', async () => {
    // In a process of its own, because the hooks of the test runner slow down every tick.
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    const { before, after } = JSON.parse(stdout)
    // Fails if `collectGarbageOfStart` queues no tick before it calls `gc`.
    assert.ok(after < 4 * before, `${before} and ${after} microseconds`)
  })
})

const program = `
import { setTimeout as sleep } from 'node:timers/promises'
import { collectGarbageOfStart } from '${import.meta.resolve('./collect-garbage.ts')}'

const before = await fastestTick()
collectGarbageOfStart()
await sleep(1_500)
console.log(JSON.stringify({ before, after: await fastestTick() }))

// Processor time of a tick in microseconds: the lowest of several averages.
async function fastestTick() {
  const averages = []
  for (let i = 0; i < 5; i += 1) averages.push(await averageTick(50_000))
  return Math.min(...averages)
}

async function averageTick(ticks) {
  const begin = process.cpuUsage()
  await new Promise((resolve) => {
    let left = ticks
    const next = () => (--left === 0 ? resolve() : process.nextTick(next))
    next()
  })
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / ticks
}
`

/** Resident memory of a process in megabytes. */
async function residentMemory(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}
