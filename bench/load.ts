import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { hasWrk, loadCore, onCore } from './machine.ts'
import { processorTime } from './processor.ts'
import type { Running } from './server-process.ts'

const run = promisify(execFile)

/** What is asked for, again and again. */
export interface Load {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The header that differs from request to request. */
  readonly header?: string | undefined
  /** A file with its values, a line each. */
  readonly values: string
  /** How many connections ask, each of which asks again as soon as it is answered. */
  readonly connections?: number | undefined
}

const usualConnections = 32

/** What came of it. */
export interface Measured {
  /** Answers in a second. */
  readonly rate: number
  /**
   * Answers in a second of the server's own processor time. Of a server that has its core to itself this is the rate; where
   * something else runs beside the benchmark it is what can be compared all the same.
   */
  readonly capacity: number
  /** How much of a core the server had. */
  readonly share: number
  /** In milliseconds. */
  readonly p50: number
  readonly p99: number
}

/** How it is asked. */
export interface LoadOptions {
  /** What is asked for is drawn anew each time, unless the same seed says that it is to be the same. */
  readonly seed?: number
  readonly core?: number | undefined
  /** For so many seconds after the last answer, what the server still does for it counts as its own time. */
  readonly rest?: number
}

/** Loads a server for some seconds. @throws if any answer is not a success: nobody is measured on a wrong answer */
export async function load(
  { url, pid }: Pick<Running, 'url' | 'pid'>,
  load: Load,
  seconds: number,
  { seed = randomInt(2 ** 31), core = loadCore, rest = 0 }: LoadOptions = {},
): Promise<Measured> {
  const before = processorTime(pid)
  const outcome = hasWrk ? await wrk(url, load, seconds, seed, core) : await autocannon(url, load, seconds)
  if (rest > 0) await sleep(rest * 1000)
  const after = processorTime(pid)
  const { requests, seconds: taken, p50, p99, refused, failed } = outcome
  if (refused + failed > 0)
    throw new Error(`${refused} of ${requests} requests of ${load.path} were refused, ${failed} failed.`)
  const used = before === undefined || after === undefined ? taken : after - before
  return { rate: requests / taken, capacity: requests / used, share: used / taken, p50, p99 }
}

interface Outcome {
  readonly requests: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly refused: number
  readonly failed: number
}

async function wrk(
  url: string,
  load: Load,
  seconds: number,
  seed: number,
  core: number | undefined,
): Promise<Outcome> {
  const { method, path, header, values, connections = usualConnections } = load
  const script = join(import.meta.dirname, 'load.lua')
  const [command = '', ...args] = onCore(core, [
    ...['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url, '--'],
    ...[`${seed}`, values, method, path, ...(header ? [header] : [])],
  ])
  const { stdout } = await run(command, args)
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

async function autocannon(
  url: string,
  { method, path, header, values, connections = usualConnections }: Load,
  seconds: number,
) {
  const { default: cannon } = await import('autocannon')
  const all = readFileSync(values, 'utf8').trim().split('\n')
  const fixed = { 'X-Forwarded-For': '192.0.2.1', 'X-Forwarded-Proto': 'https' }
  const setupRequest = (request: object) => {
    const value = all[Math.floor(Math.random() * all.length)] ?? ''
    return { ...request, headers: header ? { ...fixed, [header]: value } : fixed }
  }
  const result = await cannon({
    url,
    connections,
    duration: seconds,
    requests: [{ method, path, setupRequest }],
  })
  return {
    requests: result.requests.total,
    seconds: result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    refused: result.non2xx,
    failed: result.errors,
  } satisfies Outcome
}
