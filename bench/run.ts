// npm run bench                         everything, which takes hours
// Whatever has all that the chart shows is kept, and drawn.
// npm run bench -- --quick              everything, once and briefly: to see that it runs
// npm run bench -- bearer session       some of it
// npm run bench -- postgres             on PostgreSQL: one that is started for it, or that of TEST_DATABASE_URL
//   --servers site,koa-by-hand          on some of the servers
//   --starts 3 --rounds 5 --seconds 1    for so long
// npm run bench -- chart                draws the chart anew from the results that are kept
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chart, panels } from './chart.ts'
import { measureGrowth } from './growth.ts'
import { measureLogins } from './logins.ts'
import { keepAwake, serverCore } from './machine.ts'
import { measureMemory } from './memory.ts'
import { measurePostgres } from './postgres.ts'
import { measureProcesses } from './processes.ts'
import { measureProfiles } from './profile.ts'
import * as report from './report.ts'
import { newResults, type Results } from './results.ts'
import { servers } from './servers.ts'
import { measureStartup } from './startup.ts'
import { taskOf, tasks } from './tasks.ts'
import { takeTurns } from './turns.ts'

const resultsFile = join(import.meta.dirname, 'results.json')
const chartFile = join(import.meta.dirname, 'chart.svg')

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    starts: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    servers: { type: 'string', default: servers.map(({ key }) => key).join(',') },
  },
})
const { quick } = options
const pace = {
  warmUp: quick ? 2 : 5,
  starts: Number(options.starts ?? (quick ? 1 : 2)),
  rounds: Number(options.rounds ?? (quick ? 1 : 5)),
  seconds: Number(options.seconds ?? 1),
}
const wanted = options.servers.split(',')
const chosen = servers.filter(({ key }) => wanted.includes(key))
for (const each of wanted)
  if (!chosen.some(({ key }) => key === each))
    refuse(
      `There is no server "${each}"`,
      servers.map(({ key }) => key),
    )
for (const [name, value] of Object.entries(pace))
  if (!(value > 0)) refuse(`"--${name}" is a number above 0`, [])
const isAwake = keepAwake()
const results = newResults(pace, isAwake)

/** What can be measured beside the tasks, each into its place in the results. */
const others: Record<string, () => Promise<void>> = {
  postgres: () =>
    measurePostgres(chosen, pace, ({ key, name }, measured) => {
      results.rates[key] = measured
      report.printRates(name, measured)
    }),
  async logins() {
    results.logins = await measureLogins(quick ? 3 : 8, quick ? 1 : 9)
    report.printLogins(results.logins)
  },
  async startup() {
    results.startup = await measureStartup(
      chosen.map(({ key }) => key),
      quick ? 1 : 3,
    )
    report.printStartup(results.startup)
  },
  async memory() {
    results.memory = await measureMemory(quick ? 50_000 : 1_000_000, quick ? 1 : 6)
    report.printMemory(results.memory)
  },
  async growth() {
    results.growth = await measureGrowth(pace, quick ? 1_000_000 : 10_000_000)
    report.printGrowth(results.growth)
  },
  async profile() {
    const watched = chosen.filter(({ isOurs, isByHand, isVariant }) => (isOurs || isByHand) && !isVariant)
    const watch = { warmUp: pace.warmUp, rounds: quick ? 1 : 4, seconds: quick ? 1 : 3 }
    for (const task of ['bearer', 'session'].map(taskOf))
      report.printProfile(task.name, await measureProfiles(task, watched, watch))
  },
  async processes() {
    results.processes = await measureProcesses(pace)
    report.printProcesses(results.processes)
  },
}

// A constant says little about authentication: it is measured on request.
const usual = [...tasks.map(({ key }) => key).filter((key) => key !== 'constant'), ...Object.keys(others)]

if (positionals.includes('chart')) draw(JSON.parse(readFileSync(resultsFile, 'utf8')))
else await measure(positionals.length > 0 ? positionals : usual)

async function measure(keys: readonly string[]): Promise<void> {
  const known = [...tasks.map(({ key }) => key), ...Object.keys(others)]
  for (const key of keys) if (!known.includes(key)) refuse(`There is no "${key}" to measure`, known)
  install()
  console.log(results.machine)
  if (serverCore === undefined) console.log('Servers and load share the cores: take the figures with care.')
  if (!isAwake)
    console.log(
      'The cores may sleep, which takes the time of slow servers above all: root could keep them awake.',
    )

  for (const task of tasks.filter(({ key }) => keys.includes(key))) {
    const able = chosen.filter(({ can }) => can?.includes(task.key) ?? true)
    const measured = await takeTurns(task, able, pace)
    results.rates[task.key] = measured
    report.printRates(task.name, measured)
  }
  for (const [key, run] of Object.entries(others)) if (keys.includes(key)) await run()
  report.printGoals(results)

  const isDrawable = panels.every(({ task }) => keys.includes(task)) && chosen.length === servers.length
  if (isDrawable && !quick) {
    writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`)
    draw(results)
  }
}

function draw(results: Results): void {
  writeFileSync(chartFile, chart(results))
  console.log(`\n${chartFile}`)
}

/** Says what is wrong with the command line, and what would do. */
function refuse(what: string, known: readonly string[]): never {
  console.error(`${what}${known.length > 0 ? `. There are: ${known.join(', ')}` : ''}.`)
  process.exit(1)
}

/** The peers are installed here alone, and only by who runs this. */
function install(): void {
  const installed = join(import.meta.dirname, 'node_modules/.package-lock.json')
  const lock = join(import.meta.dirname, 'package-lock.json')
  if (existsSync(installed) && sameVersions(installed, lock)) return
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: import.meta.dirname, stdio: 'inherit' })
}

function sameVersions(installed: string, lock: string): boolean {
  const versions = (file: string): Record<string, { version: string }> =>
    JSON.parse(readFileSync(file, 'utf8')).packages
  const locked = versions(lock)
  return Object.entries(versions(installed)).every(([name, { version }]) => locked[name]?.version === version)
}
