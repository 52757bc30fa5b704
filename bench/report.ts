import { styleText } from 'node:util'
import { goals } from './goals.ts'
import type { GrowthResult } from './growth.ts'
import type { Latency, LoginRound } from './logins.ts'
import { median } from './median.ts'
import type { MemoryResult } from './memory.ts'
import type { ProcessesResult } from './processes.ts'
import type { Profile } from './profile.ts'
import type { Results } from './results.ts'
import { type Server, servers } from './servers.ts'
import type { Standing } from './turns.ts'

/** A task in the terminal: a line for each server, the fastest first, ours in bold. */
export function printRates(name: string, measured: Record<string, Standing>): void {
  const rows = servers
    .flatMap((server) => {
      const found = measured[server.key]
      return found ? [{ server, ...found }] : []
    })
    .sort((a, b) => b.capacity - a.capacity)
  // Constant answers would leave no room for the others.
  const longest = Math.max(...rows.map(({ server, capacity }) => (server.isConstant ? 0 : capacity)))
  heading(name)
  print('', 'a second', 'of a core', 'p99 ms', '')
  for (const { server, capacity, rate, share, p99 } of rows) {
    const length = server.isConstant ? 0 : Math.round((capacity / longest) * 24)
    const line = columns(server.name, whole(rate), whole(capacity), p99.toFixed(1), '█'.repeat(length))
    console.log(emphasized(server, line))
    if (share < 0.9) console.log(styleText('dim', `  (had ${Math.round(share * 100)} % of its core)`))
  }
}

export function printLogins(rounds: readonly LoginRound[]): void {
  const of = (figure: (round: LoginRound) => number) => median(rounds.map(figure))
  const latency = (which: (round: LoginRound) => Latency) => {
    const at = (share: keyof Latency) => `${share} ${of((round) => which(round)[share]).toFixed(1)} ms`
    return `${at('p50')}, ${at('p99')}`
  }
  const flood = (figure: keyof LoginRound['flood']) => of((round) => round.flood[figure]).toFixed(0)
  heading('POST /login, and a page while logins flood')
  print('bcrypt alone', `${of(({ bcrypt }) => bcrypt).toFixed(1)}/s`)
  print('this site', `${of(({ site }) => site).toFixed(1)}/s`)
  print('its load', `${(of(({ load }) => load) * 100).toFixed(1)} % of the cores`)
  print(
    'a page at rest',
    latency(({ atRest }) => atRest),
  )
  print(
    'a page in the flood',
    latency(({ flooded }) => flooded),
  )
  print(
    'the flood',
    `${flood('rate')}/s: ${flood('signedIn')} signed in, ${flood('later')} told to come later`,
  )
}

export function printStartup(startup: Record<string, number>): void {
  heading('Start to first answer')
  for (const { key, name } of servers) {
    const found = startup[key]
    if (found !== undefined) print(name, `${found.toFixed(0)} ms`)
  }
}

export function printMemory({ atRest, filesAtRest, quarters, requests, sessions }: MemoryResult): void {
  heading('Resident memory of this site')
  print('at rest', `${list(atRest)} MB`)
  print('of which pages of files', `${list(filesAtRest)} MB`)
  print(`over ${whole(requests)} requests`, `${list(quarters)} MB`)
  print(
    'asked with 100,000 sessions',
    `${sessions.process.toFixed(0)} MB more, and ${sessions.file.toFixed(0)} MB of database`,
  )
}

export function printGrowth(growth: readonly GrowthResult[]): void {
  for (const { name, sizes, plan } of growth) {
    heading(`A look-up of a ${name}, in microseconds`)
    print('among', 'in a loop', 'a request', 'ratio', '')
    for (const { rows, statements, request, ratios } of sizes) {
      const ratio = median(ratios).toFixed(2)
      print(whole(rows), statements.toFixed(1), request.toFixed(0), ratio, '')
    }
    for (const step of plan) console.log(styleText('dim', `    ${step}`))
  }
  const rounds =
    'ratio: of the requests of each round to those among 10,000, so it may differ from that of the medians'
  console.log(styleText('dim', `  ${rounds}`))
}

/** A table with a column for each server, and a row for each part of the program. */
export function printProfile(name: string, profiles: ReadonlyMap<Server, Profile>): void {
  heading(`${name}: where the microseconds go`)
  const line = (part: string, cells: readonly string[]) =>
    console.log(`  ${part.padEnd(34)}${cells.map((cell) => cell.padStart(14)).join('')}`)
  const row = (part: string, found: readonly number[]) =>
    line(
      part,
      found.map((each) => (each === 0 ? '' : each.toFixed(1))),
    )
  const columns = [...profiles.values()]
  const parts = [...new Set(columns.flatMap((each) => [...each.keys()]))]
  const most = (part: string) => Math.max(...columns.map((each) => each.get(part) ?? 0))
  line(
    '',
    [...profiles.keys()].map(({ key }) => key),
  )
  for (const part of parts.sort((a, b) => most(b) - most(a)))
    row(
      part,
      columns.map((each) => each.get(part) ?? 0),
    )
  row(
    'in all',
    columns.map((each) => [...each.values()].reduce((sum, value) => sum + value, 0)),
  )
}

export function printProcesses(result: ProcessesResult | undefined): void {
  heading('Two processes on one database')
  if (result) print('of one', `${median(result.ratios).toFixed(2)} times as many requests`)
  else print('not measured', 'this machine has one core')
  if (result && !result.isAlone) print('no cores to spare', 'that one was of two that have a database each')
}

/** Each goal that has been measured, and whether it is met. */
export function printGoals(results: Results): void {
  const judged = goals.flatMap((goal) => {
    const judgement = goal.judge(results)
    return judgement ? [{ ...goal, ...judgement }] : []
  })
  if (judged.length === 0) return
  heading('Goals')
  for (const { name, wanted, found, isMet, isSure } of judged) {
    const verdict = `${isMet ? 'met' : 'missed'}${isSure ? '' : ' ?'}`
    const mark = styleText(isSure ? (isMet ? 'green' : 'red') : 'yellow', verdict.padEnd(8))
    console.log(`  ${mark} ${found.padEnd(20)} ${wanted.padEnd(8)} ${name}`)
  }
  if (judged.some(({ isSure }) => !isSure))
    console.log(
      styleText('dim', '  ?  the goal lies within the range, so another run may come to the contrary'),
    )
}

function heading(text: string): void {
  console.log(`\n${styleText('bold', text)}`)
}

function print(...cells: string[]): void {
  console.log(columns(...cells))
}

function columns(name: string | undefined = '', ...cells: string[]): string {
  const padded = cells.length > 1 ? cells.map((cell, i) => (i < 3 ? cell.padStart(10) : ` ${cell}`)) : cells
  return `  ${name.padEnd(32)} ${padded.join('')}`.trimEnd()
}

function emphasized({ isOurs }: Server, line: string): string {
  return isOurs ? styleText('bold', line) : line
}

function list(numbers: readonly number[]): string {
  return numbers.map((each) => each.toFixed(0)).join(', ')
}

function whole(number: number): string {
  return Math.round(number).toLocaleString('en')
}
