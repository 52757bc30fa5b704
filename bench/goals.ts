import { interval, median } from './median.ts'
import type { Results } from './results.ts'
import { servers } from './servers.ts'
import type { Standing } from './turns.ts'

/** Something that is to be reached. */
export interface Goal {
  readonly name: string
  /** As it is written: `>= 0.95`. */
  readonly wanted: string
  /** Which two servers it compares, by their keys: they should take turns with one another. */
  readonly compares?: { readonly task: string; readonly server: string; readonly other: string }
  /** What was found, and what that says; `undefined` if it was not measured. */
  judge(results: Results): Judgement | undefined
}

/** What was found. */
export interface Judgement {
  readonly found: string
  /** Whether the median reaches it, or the goal lies inside the range. */
  readonly isMet: boolean
  /** Whether the whole range does, or nothing of it: else another run may come to the contrary. */
  readonly isSure: boolean
}

/** A figure, or as often as it was measured; `undefined` if it was not. */
type Find = (results: Results) => number | readonly number[] | undefined

/** What we have set ourselves, in the order of what is measured. */
export const goals: readonly Goal[] = [
  ratio('bearer', 'layer', 1.1, 'koa-by-hand'),
  ratio('bearer', 'site', 1, 'site-by-hand'),
  ratio('bearer', 'layer', 2, 'koa-passport'),
  ratio('bearer', 'layer', 6, 'better-auth'),
  ratio('session', 'layer', 1, 'koa-by-hand'),
  ratio('session', 'layer', 1, 'fastify'),
  ratio('session', 'site', 0.95, 'site-by-hand'),
  ratio('postgres-bearer', 'layer', 0.95, 'koa-by-hand'),
  ratio('postgres-session', 'layer', 0.95, 'koa-by-hand'),
  atLeast('logins a second, on what the load leaves, of what bcrypt alone does', 0.95, ({ logins }) =>
    logins?.map(({ site, load, bcrypt }) => site / (1 - load) / bcrypt),
  ),
  atMost('p99 of a page while logins flood, in ms', 50, ({ logins }) =>
    logins?.map(({ flooded }) => flooded.p99),
  ),
  atMost('the same, of its own p99 at rest', 5, ({ logins }) =>
    logins?.map(({ flooded, atRest }) => flooded.p99 / atRest.p99),
  ),
  atLeast('two processes, of one', 1.9, ({ processes }) => processes?.ratios),
  ...['bearer token', 'session'].map((name) =>
    atMost(
      `${name}: a request with a look-up among 1,000,000, of one among 10,000`,
      1.15,
      ({ growth }) =>
        growth?.find((each) => each.name === name)?.sizes.find(({ rows }) => rows === 1_000_000)?.ratios,
    ),
  ),
  atMost('start to first answer, in ms', 1000, ({ startup }) => startup?.site),
  atMost('memory at rest, in MB', 120, ({ memory }) => memory?.atRest),
  atMost(
    'memory after all requests, of what it was after a quarter',
    1.1,
    ({ memory }) => memory && (memory.quarters.at(-1) ?? Number.NaN) / (memory.quarters[0] ?? Number.NaN),
  ),
]

function ratio(task: string, server: string, least: number, other: string): Goal {
  const name = `${task}: ${nameOf(server)}, of ${nameOf(other)}`
  const compared = atLeast(name, least, ({ rates }) => {
    const [ours, theirs] = [rates[task]?.[server], rates[task]?.[other]]
    return ours && theirs && eachRound(ours, theirs)
  })
  return { ...compared, compares: { task, server, other } }
}

// Each round by itself: what else the machine does comes and goes, and has met both alike then.
function eachRound(ours: Standing, theirs: Standing): number[] {
  return ours.turns.map((capacity, round) => capacity / (theirs.turns[round] ?? Number.NaN))
}

// Tokens that have been verified are remembered, and then it should not matter how they were signed. Measured at different
// times, each is compared with the constant answers of its own table first.
function ownRatio(rates: Results['rates'], task: string): number | undefined {
  const [asymmetric, symmetric] = [ofConstant(rates[task]), ofConstant(rates['jwt-hs256'])]
  return asymmetric && symmetric && asymmetric / symmetric
}

function ofConstant(measured: Record<string, Standing> | undefined): number | undefined {
  return measured?.layer && measured.koa && measured.layer.capacity / measured.koa.capacity
}

function atLeast(name: string, least: number, find: Find): Goal {
  return goal(name, `>= ${least}`, find, (found) => found >= least)
}

function atMost(name: string, most: number, find: Find): Goal {
  return goal(name, `<= ${most}`, find, (found) => found <= most)
}

function goal(name: string, wanted: string, find: Find, isEnough: (found: number) => boolean): Goal {
  return {
    name,
    wanted,
    judge(results) {
      const all = [find(results) ?? []].flat()
      if (all.length === 0) return undefined
      const middle = median(all)
      const text = (value: number) => value.toFixed(middle < 2 ? 3 : middle < 20 ? 2 : 0)
      const { low, high } = interval(all)
      const range = all.length > 1 ? ` (${text(low)}-${text(high)})` : ''
      return {
        found: text(middle) + range,
        // A goal inside the range counts as met: the next run may land on either side.
        isMet: isEnough(low) || isEnough(high),
        isSure: isEnough(low) === isEnough(high),
      }
    },
  }
}

function nameOf(key: string): string {
  return servers.find((server) => server.key === key)?.name ?? key
}
