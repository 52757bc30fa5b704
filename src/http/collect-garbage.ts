import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// In milliseconds. The collection blocks the process, so it must not delay the first requests.
const delay = 1000

/**
 * Collects garbage once, a second after the start. Loading the modules needs a large young generation, which V8 would keep
 * although an idle process does not need it.
 */
export function collectGarbageOfStart(): void {
  setTimeout(collectGarbage, delay).unref()
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const gc: NodeJS.GCFunction = runInNewContext('gc')
  // Reset, because V8 rejects the compile cache if a flag has changed.
  setFlagsFromString('--no-expose-gc')
  // Keeps the hidden class of queued ticks alive. If it is collected, V8 no longer optimizes `process.nextTick`.
  process.nextTick(() => {})
  // Only this flavor shrinks the young generation.
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
