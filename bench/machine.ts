import { spawnSync } from 'node:child_process'
import { openSync, writeSync } from 'node:fs'
import { availableParallelism } from 'node:os'

export const cores = availableParallelism()

const canPin = cores > 1 && has('taskset', '--version')
/** The core of the servers, or `undefined` if processes cannot be pinned. wrk and PostgreSQL have another core. */
export const serverCore = canPin ? 0 : undefined
export const loadCore = canPin ? 1 : undefined

export const hasWrk = has('wrk', '--version')

/** Whether CPU idle states are disabled. Otherwise, the delay until a core wakes up would distort the measurements. */
export const isAwake = keepAwake()

/** The command, pinned to the core if pinning is possible. */
export function onCore(core: number | undefined, command: readonly string[]): string[] {
  return core === undefined || !canPin ? [...command] : ['taskset', '-c', String(core), ...command]
}

/** Disables CPU idle states while this process runs. Needs root on Linux (https://docs.kernel.org/power/pm_qos_interface.html). */
function keepAwake(): boolean {
  try {
    writeSync(openSync('/dev/cpu_dma_latency', 'w'), new Int32Array([0]))
    return true
  } catch {
    return false
  }
}

function has(command: string, argument: string): boolean {
  return spawnSync(command, [argument], { stdio: 'ignore' }).error === undefined
}
