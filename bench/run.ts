// The command line of `npm run bench`. See README.md.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { drawChart } from './chart.ts'
import { folder } from './data.ts'
import { measureGrowth } from './growth.ts'
import { measureLogins } from './logins.ts'
import { measureMemory } from './memory.ts'
import { measurePostgres } from './postgres.ts'
import { type Figures, machine, measurement, type Results, saveResults } from './results.ts'
import { measureRounds, type RunLength } from './rounds.ts'
import { type Server, servers } from './servers.ts'
import { measureStartup } from './startup.ts'
import { printTable } from './table.ts'
import { tasks } from './tasks.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    starts: { type: 'string' },
    rounds: { type: 'string' },
    servers: { type: 'string' },
  },
})
const { quick } = options
const runLength: RunLength = {
  warmUp: quick ? 2 : 5,
  starts: Number(options.starts ?? (quick ? 1 : 2)),
  rounds: Number(options.rounds ?? (quick ? 1 : 5)),
}
for (const [name, value] of Object.entries(runLength))
  if (!Number.isInteger(value) || value < 1) refuse(`--${name} must be a whole number above 0.`)
const known = servers.map(({ key }) => key)
const chosen = options.servers?.split(',') ?? known
for (const key of chosen)
  if (!known.includes(key)) refuse(`Unknown server "${key}". The servers are: ${known.join(', ')}.`)

/** The measurements by their name on the command line. Each returns its figures by task. */
const measurements: Record<string, () => Promise<Record<string, Figures>>> = {
  ...Object.fromEntries(
    tasks.map((task) => [
      task.key,
      async () => ({ [task.key]: await measureRounds(task, serversOf(task.key), runLength) }),
    ]),
  ),
  postgres: () => measurePostgres(serversOf, runLength),
  growth: () => measureGrowth(runLength),
  logins: async () => ({ logins: await measureLogins(quick ? 3 : 8, quick ? 1 : 5) }),
  startup: async () => ({ startup: await measureStartup(quick ? 1 : 5) }),
  memory: async () => ({ memory: await measureMemory(quick ? 40_000 : 1_000_000, quick ? 1 : 5) }),
}

const names = positionals.length > 0 ? positionals : Object.keys(measurements)
for (const name of names)
  if (!measurements[name])
    refuse(`Unknown task "${name}". The tasks are: ${Object.keys(measurements).join(', ')}.`)

installPeers()
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
console.log(machine)
const isSaved = !quick && options.servers === undefined
const results: Results = {}
for (const name of names) {
  console.log(`Measuring ${name} …`)
  const found = (await measurements[name]?.()) ?? {}
  for (const [task, figures] of Object.entries(found)) results[task] = measurement(figures)
  // Now, because a later measurement may fail.
  if (isSaved) saveResults(results)
}
const missed = printTable(results)
if (isSaved) {
  drawChart(saveResults(results))
  if (missed > 0) process.exitCode = 1
}

function serversOf(task: string): Server[] {
  return servers.filter(({ key, tasks }) => chosen.includes(key) && tasks.includes(task))
}

/** Installs the libraries that the benchmark compares. Only the benchmark needs them. */
function installPeers(): void {
  const installed = join(import.meta.dirname, 'node_modules/.package-lock.json')
  const lock = join(import.meta.dirname, 'package-lock.json')
  if (existsSync(installed) && statSync(installed).mtimeMs > statSync(lock).mtimeMs) return
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: import.meta.dirname, stdio: 'inherit' })
}

function refuse(message: string): never {
  console.error(message)
  process.exit(1)
}
