import { spawnSync } from 'node:child_process'
import { openSync, writeSync } from 'node:fs'
import { availableParallelism } from 'node:os'

export const cores = availableParallelism()

/** Where the servers run, and where the load comes from, if the machine can keep them apart. */
const canPin = cores > 1 && has('taskset', '--version')
export const serverCore = canPin ? 0 : undefined
export const loadCore = canPin ? 1 : undefined

export const hasWrk = has('wrk', '--version')

/** The command, kept on one core. */
export function onCore(core: number | undefined, command: readonly string[]): string[] {
  return core === undefined || !canPin ? [...command] : ['taskset', '-c', String(core), ...command]
}

/**
 * Keeps the cores from sleeping as long as this process runs, where Linux lets it (it asks for root): waking the one that the
 * load comes from takes the server's time, and the slower a server, the oftener it sleeps
 * (https://docs.kernel.org/power/pm_qos_interface.html).
 *
 * @returns whether they are kept awake
 */
export function keepAwake(): boolean {
  try {
    // So many microseconds may waking take. It holds while the file is open.
    writeSync(openSync('/dev/cpu_dma_latency', 'w'), new Int32Array([0]))
    return true
  } catch {
    return false
  }
}

function has(command: string, argument: string): boolean {
  return spawnSync(command, [argument], { stdio: 'ignore' }).error === undefined
}
