import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { cores, hasWrk, isAwake } from './machine.ts'

/** The measured values of a task, by the name of a server or a figure. Each list has one value for each round or start. */
export type Figures = Record<string, readonly number[]>

/** The figures of one task, with the date and the machine of the run. */
export interface Measurement {
  readonly at: string
  readonly machine: string
  readonly figures: Figures
}

/** The measurements by task. */
export type Results = Record<string, Measurement>

const file = join(import.meta.dirname, 'results.json')

/** Adds measurements to `results.json`, and replaces those of the same tasks. Returns all of them. */
export function saveResults(results: Results): Results {
  const earlier: Results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const all = { ...earlier, ...results }
  writeFileSync(file, `${JSON.stringify(all, undefined, 2)}\n`)
  return all
}

/** The figures of a task, measured now on this machine. */
export function measurement(figures: Figures): Measurement {
  return { at: new Date().toISOString().slice(0, 10), machine, figures }
}

const git = spawnSync('git', ['describe', '--always', '--exclude=*', '--dirty=+'], { encoding: 'utf8' })
const [{ model = 'unknown processor' } = {}] = cpus()
const tool = hasWrk ? 'wrk' : 'autocannon'
/** The machine, the version of Node, the load generator and the commit, with a plus for uncommitted changes. */
export const machine = [
  `${cores} cores (${model.trim()})`,
  `Node ${process.versions.node}`,
  `load by ${tool}`,
  isAwake ? 'cores kept awake' : 'cores may sleep',
  `commit ${git.stdout?.trim()}`,
].join(', ')
