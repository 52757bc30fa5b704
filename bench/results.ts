import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import type { GrowthResult } from './growth.ts'
import type { LoginRound } from './logins.ts'
import { cores, hasWrk } from './machine.ts'
import type { MemoryResult } from './memory.ts'
import type { ProcessesResult } from './processes.ts'
import type { Pace, Standing } from './turns.ts'

/** All that one run has found out. */
export interface Results {
  readonly at: string
  readonly machine: string
  readonly pace: Pace
  /** By task and server. */
  readonly rates: Record<string, Record<string, Standing>>
  logins?: readonly LoginRound[]
  /** Milliseconds to the first answer, by server. */
  startup?: Record<string, number>
  memory?: MemoryResult
  growth?: GrowthResult[]
  processes?: ProcessesResult | undefined
}

/**
 * The results of a run that has only begun.
 *
 * @param isAwake whether the cores are kept from sleeping
 */
export function newResults(pace: Pace, isAwake: boolean): Results {
  const [{ model = 'an unknown processor' } = {}] = cpus()
  // With a plus where the work tree is another.
  const commit = spawnSync('git', ['describe', '--always', '--exclude=*', '--dirty=+'], {
    encoding: 'utf8',
  }).stdout?.trim()
  const code = commit ? `, commit ${commit}` : ''
  const machine = `${cores} cores (${model.trim()}), Node ${process.versions.node}, load by ${hasWrk ? 'wrk' : 'autocannon'}, cores ${isAwake ? 'kept awake' : 'that may sleep'}${code}`
  return { at: new Date().toISOString().slice(0, 10), machine, pace, rates: {} }
}
