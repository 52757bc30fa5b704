import type { startServer } from '../server-process.ts'

const program = `
  import { monitorEventLoopDelay } from 'node:perf_hooks'
  import { setFlagsFromString } from 'node:v8'
  import { runInNewContext } from 'node:vm'
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc')
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  process.on('SIGUSR2', () => {
    const [max, p99] = [delays.max / 1e6, delays.percentile(99) / 1e6]
    collectGarbage()
    console.log(JSON.stringify({ msg: 'measured', max, p99, heap: process.memoryUsage().heapUsed / 1e6 }))
    delays.reset()
  })`

/** The environment of a server that measures its event-loop delay and its heap. */
export const measuring = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` }

/** The event-loop delay since the last call, in milliseconds, and the heap, in megabytes. */
export async function measure({ child, log, says }: Awaited<ReturnType<typeof startServer>>) {
  log.length = 0
  child.kill('SIGUSR2')
  const { max, p99, heap } = await says('measured')
  return { max: Number(max), p99: Number(p99), heap: Number(heap) }
}
