import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// In milliseconds. The collection takes about 90 ms, so it must not delay the first requests.
const delay = 1000

/**
 * Collects the garbage of the start once. Loading the modules needs a large young generation, which V8 would keep. It is a quarter of
 * the memory of an idle process.
 */
export function collectGarbageOfStart(): void {
  setTimeout(collectGarbage, delay).unref()
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const gc: NodeJS.GCFunction = runInNewContext('gc')
  // V8 rejects the compile cache while its flags differ.
  setFlagsFromString('--no-expose-gc')
  // A tick must be alive. Otherwise its hidden class is collected, and V8 never optimizes `process.nextTick` again.
  process.nextTick(() => {})
  // Only this flavor shrinks the young generation.
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
