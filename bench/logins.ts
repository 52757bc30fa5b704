import { setTimeout as sleep } from 'node:timers/promises'
import bcrypt from 'bcrypt'
import { bcryptCost, defaultAmounts, password, user, users } from './data.ts'
import { newKeys } from './keys.ts'
import { cores } from './machine.ts'
import type { Figures } from './results.ts'
import { serverOf, startServer } from './servers.ts'

const pagesPerSecond = 100
// The size of libuv's thread pool, where bcrypt runs.
const poolThreads = 4
let visitors = 0

/**
 * Measures the password checks per second of bcrypt alone and the sign-ins per second of the site. Then measures the latency
 * of a page, in milliseconds, during a flood of sign-ins at three times the rate of bcrypt. The server is not pinned, because
 * bcrypt runs on several cores.
 */
export async function measureLogins(seconds: number, rounds: number): Promise<Figures> {
  const { url, stop } = await startServer(serverOf('site'), newKeys('HS256'))
  const [bcryptAlone, site, latency]: [number[], number[], number[]] = [[], [], []]
  try {
    const hash = await bcrypt.hash(password, bcryptCost)
    await pageLatency(url, 2)
    for (let round = 0; round < rounds; round += 1) {
      const hashes = await rateOf(seconds, async () => void (await bcrypt.compare(password, hash)))
      bcryptAlone.push(hashes)
      site.push(await signInRate(url, seconds))
      const stopFlood = flood(url, hashes * 3)
      await sleep(2000)
      latency.push(await pageLatency(url, seconds))
      await stopFlood()
    }
  } finally {
    await stop()
  }
  return { 'bcrypt alone': bcryptAlone, site, 'p99 of a page in a flood': latency }
}

/** Sign-ins per second. Excludes the processor time of this process, because its load slows the server. */
async function signInRate(url: string, seconds: number): Promise<number> {
  const before = process.cpuUsage()
  const begin = performance.now()
  const rate = await rateOf(seconds, async () => {
    const status = await logIn(url)
    if (status !== 200) throw new Error(`POST /login responded with ${status}.`)
  })
  const { user, system } = process.cpuUsage(before)
  // With more cores than pool threads, this process does not slow bcrypt down.
  const share = cores > poolThreads ? 0 : (user + system) / 1000 / (performance.now() - begin) / cores
  return rate / (1 - share)
}

/** Calls of a function per second, with eight concurrent calls. */
async function rateOf(seconds: number, work: () => Promise<void>): Promise<number> {
  const begin = performance.now()
  let done = 0
  let last = begin
  const repeat = async () => {
    while (performance.now() < begin + seconds * 1000) {
      await work()
      done += 1
      last = performance.now()
    }
  }
  await Promise.all(Array.from({ length: 8 }, repeat))
  return (done / (last - begin)) * 1000
}

/** Sends sign-ins at a steady rate until the returned function is called. */
function flood(url: string, rate: number): () => Promise<void> {
  const answers: Promise<number>[] = []
  const timer = setInterval(() => answers.push(logIn(url)), 1000 / rate)
  return async () => {
    clearInterval(timer)
    // 429 and 503 are expected during a flood.
    const wrong = (await Promise.all(answers)).find((status) => ![200, 429, 503].includes(status))
    if (wrong !== undefined) throw new Error(`POST /login responded with ${wrong}.`)
  }
}

/** Requests pages at a steady rate. Returns the 99th percentile of the latencies, in milliseconds. */
async function pageLatency(url: string, seconds: number): Promise<number> {
  const { cookie } = serverOf('site')
  const latencies: Promise<number>[] = []
  const begin = performance.now()
  for (let number = 0; number < seconds * pagesPerSecond; number += 1) {
    const due = begin + (number * 1000) / pagesPerSecond
    await sleep(Math.max(0, due - performance.now()))
    latencies.push(timePage(url, cookie(number % defaultAmounts.sessions)))
  }
  const sorted = (await Promise.all(latencies)).toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}

async function timePage(url: string, cookie: string): Promise<number> {
  const begin = performance.now()
  const status = await request(`${url}/account`, { headers: { Cookie: cookie } })
  if (status !== 200) throw new Error(`GET /account responded with ${status}.`)
  return performance.now() - begin
}

function logIn(url: string): Promise<number> {
  visitors += 1
  const { email: username } = user(visitors % users)
  const body = JSON.stringify({ username, password })
  return request(`${url}/login`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
}

async function request(url: string, { headers, ...options }: RequestInit): Promise<number> {
  // Each sign-in has its own IP address, so that the rate limit of an IP address does not apply.
  const address = `10.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors & 255}`
  const proxied = { ...headers, 'X-Forwarded-For': address, 'X-Forwarded-Proto': 'https' }
  const response = await fetch(url, { ...options, headers: proxied, redirect: 'manual' })
  await response.arrayBuffer()
  return response.status
}
