import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { folder } from './data.ts'
import type { Keys } from './keys.ts'
import { hasWrk, loadCore, onCore } from './machine.ts'
import { processorTime } from './processor.ts'
import type { RunningServer } from './server-process.ts'
import type { Server } from './servers.ts'
import type { Task } from './tasks.ts'

const run = promisify(execFile)
// Each connection sends a request after the previous response.
const connections = 32

export interface Requests {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly header: string | undefined
  /** A file with one header value in each line. */
  readonly values: string
}

export async function requestsOf(
  { key, method, path, header, values }: Task,
  server: Server,
  keys: Keys,
): Promise<Requests> {
  const file = join(folder, 'values', `${server.key}-${key}.txt`)
  mkdirSync(join(folder, 'values'), { recursive: true })
  writeFileSync(file, `${(await values(server, keys)).join('\n')}\n`)
  return { method, path, header, values: file }
}

/** The number of responses, and the responses per second of the server's processor time. Without /proc, `rate` uses wall time. */
export type Measured = Record<'requests' | 'rate', number>

/**
 * Sends requests to a server for some seconds. Throws if a request fails or gets an error status.
 *
 * @param seed for the random choice of requests: with wrk, equal seeds choose equal requests
 */
export async function load(
  { key, url, pid }: RunningServer,
  requests: Requests,
  seconds: number,
  seed = randomInt(2 ** 31),
): Promise<Measured> {
  const before = processorTime(pid)
  const outcome = hasWrk ? await wrk(url, requests, seconds, seed) : await autocannon(url, requests, seconds)
  const after = processorTime(pid)
  const { answered, refused, failed } = outcome
  if (refused + failed > 0)
    throw new Error(`${key}: ${refused} of ${answered} requests were rejected, ${failed} failed.`)
  // Without /proc, the processor time is `NaN`, so the wall time is used.
  return { requests: answered, rate: answered / (after - before || outcome.seconds) }
}

type Outcome = Record<'answered' | 'seconds' | 'refused' | 'failed', number>

async function wrk(url: string, requests: Requests, seconds: number, seed: number): Promise<Outcome> {
  const { method, path, header, values } = requests
  const script = join(import.meta.dirname, 'load.lua')
  const [command = '', ...args] = onCore(loadCore, [
    ...['wrk', '-t1', `-c${connections}`, '--timeout', '20s', `-d${seconds}s`, '-s', script, url, '--'],
    ...[`${seed}`, values, method, path, ...(header ? [header] : [])],
  ])
  const { stdout } = await run(command, args)
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

async function autocannon(url: string, requests: Requests, seconds: number): Promise<Outcome> {
  const { default: cannon } = await import('autocannon')
  const { method, path, header, values } = requests
  const all = readFileSync(values, 'utf8').trim().split('\n')
  const fixed = { 'X-Forwarded-For': '192.0.2.1', 'X-Forwarded-Proto': 'https' }
  const setupRequest = (request: object) => {
    const value = all[randomInt(all.length)] ?? ''
    return { ...request, headers: header ? { ...fixed, [header]: value } : fixed }
  }
  const options = { url, connections, duration: seconds, requests: [{ method, path, setupRequest }] }
  const found = await cannon(options)
  const { requests: answers, duration, non2xx, errors } = found
  return { answered: answers.total, seconds: duration, refused: non2xx, failed: errors }
}
