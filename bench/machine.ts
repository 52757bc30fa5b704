import { spawnSync } from 'node:child_process'
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

function has(command: string, argument: string): boolean {
  return spawnSync(command, [argument], { stdio: 'ignore' }).error === undefined
}
