import { execFile } from 'node:child_process'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { password, user, usual } from './data.ts'
import { newKeys } from './keys.ts'
import { cores } from './machine.ts'
import { start } from './server-process.ts'
import { serverOf } from './servers.ts'

/** What one round has found: logins a second, and how long a page takes, in milliseconds, at rest and while logins flood. */
export interface LoginRound {
  /** What bcrypt reaches alone, on all cores. */
  readonly bcrypt: number
  readonly site: number
  /** What the load took meanwhile of the cores that bcrypt is to have, as a share. */
  readonly load: number
  readonly atRest: Latency
  readonly flooded: Latency
  /** Of the flood, how many were let in and how many were told to come back later. */
  readonly flood: { readonly rate: number; readonly signedIn: number; readonly later: number }
}

export interface Latency {
  readonly p50: number
  readonly p99: number
}

const pagesPerSecond = 100
// Of Node's pool, which bcrypt works in.
const threads = 4
const run = promisify(execFile)
const agent = new Agent({ keepAlive: true, maxSockets: 1000 })

/** Nobody is kept on a core here: bcrypt takes as many as there are. */
export async function measureLogins(seconds: number, rounds: number): Promise<LoginRound[]> {
  const { url, stop } = await start(serverOf('site'), newKeys('HS256'))
  const all: LoginRound[] = []
  try {
    await signInFor(url, 1)
    await pages(url, 2)
    for (let round = 0; round < rounds; round += 1) all.push(await once(url, seconds))
  } finally {
    await stop()
    agent.destroy()
  }
  return all
}

async function once(url: string, seconds: number): Promise<LoginRound> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'bcrypt-alone.ts'), `${seconds}`])
  const bcrypt = Number(stdout)
  const { rate: site, load } = await signInFor(url, seconds)
  const atRest = await pages(url, seconds)
  const flood = floodWith(url, bcrypt * 3)
  await sleep(2000)
  const flooded = await pages(url, seconds)
  return { bcrypt, site, load, atRest, flooded, flood: await flood.stop() }
}

let visitors = 0

/** Logins a second of eight people at a time, each of whom signs in as somebody else. */
async function signInFor(url: string, seconds: number): Promise<Pick<LoginRound, 'load'> & { rate: number }> {
  const before = process.cpuUsage()
  const begin = performance.now()
  const end = begin + seconds * 1000
  let done = 0
  let last = begin
  const signIn = async () => {
    while (performance.now() < end) {
      const status = await logIn(url)
      if (status !== 200) throw new Error(`POST /login answered ${status}.`)
      done += 1
      last = performance.now()
    }
  }
  await Promise.all(Array.from({ length: 8 }, signIn))
  const taken = last - begin
  const { user, system } = process.cpuUsage(before)
  // Whoever has more cores than bcrypt has threads has one for the load.
  const load = cores > threads ? 0 : (user + system) / 1000 / (taken * cores)
  return { rate: (done / taken) * 1000, load }
}

/** So many logins a second, whether they are answered or not, until it is stopped. */
function floodWith(url: string, rate: number) {
  const answers: Promise<number>[] = []
  const timer = setInterval(() => answers.push(logIn(url)), 1000 / rate)
  return {
    async stop() {
      clearInterval(timer)
      const statuses = await Promise.all(answers)
      const answered = (status: number) => statuses.filter((each) => each === status).length
      const [signedIn, later] = [answered(200), answered(503)]
      if (signedIn + later < statuses.length)
        throw new Error(`POST /login answered ${[...new Set(statuses)].join(', ')}.`)
      return { rate, signedIn, later }
    },
  }
}

/** The latency of pages that are asked for at a steady pace, whether the last one has been answered or not. */
async function pages(url: string, seconds: number): Promise<Latency> {
  const { cookie } = serverOf('site')
  const taken: Promise<number>[] = []
  const begin = performance.now()
  for (let number = 0; number < seconds * pagesPerSecond; number += 1) {
    const due = begin + (number * 1000) / pagesPerSecond
    await sleep(Math.max(0, due - performance.now()))
    taken.push(timed(() => ask(url, 'GET', '/account', { Cookie: cookie(number % usual.sessions) })))
  }
  const sorted = (await Promise.all(taken)).toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

async function timed(work: () => Promise<number>): Promise<number> {
  const begin = performance.now()
  const status = await work()
  if (status !== 200) throw new Error(`GET /account answered ${status}.`)
  return performance.now() - begin
}

function logIn(url: string): Promise<number> {
  visitors += 1
  const { email: username } = user(visitors % usual.users)
  const body = JSON.stringify({ username, password })
  return ask(url, 'POST', '/login', { 'Content-Type': 'application/json' }, body)
}

function ask(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Promise<number> {
  // Everybody comes from a network of their own.
  const from = `10.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors & 255}`
  const proxied = {
    'X-Forwarded-For': from,
    'X-Forwarded-Proto': 'https',
    'Content-Length': Buffer.byteLength(body),
  }
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      { method, agent, headers: { ...headers, ...proxied } },
      (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    sent.on('error', reject).end(body)
  })
}
