import { statfsSync } from 'node:fs'
import { totalmem } from 'node:os'
import { storedToken } from '../src/users/token-value.ts'
import { digestOf } from '../src/web/session-store.ts'
import { type Amounts, session, token, user, usual } from './data.ts'
import { database, isMade, refresh } from './database.ts'
import { type LookUp, sample, statementsOf, timesOf } from './growth-statements.ts'
import { median } from './median.ts'
import { type Server, serverOf } from './servers.ts'
import { type Task, taskOf } from './tasks.ts'
import { type Pace, takeTurns } from './turns.ts'

/** What one look-up takes among so many rows. */
export interface GrowthResult {
  readonly name: string
  /** From few rows to many. */
  readonly sizes: readonly SizeResult[]
  /** How SQLite finds the rows. */
  readonly plan: readonly string[]
}

export interface SizeResult {
  readonly rows: number
  /** Its statements, one after the other in a loop: microseconds. */
  readonly statements: number
  /** The processor's time for a whole request of the site, of which they are a part: microseconds. */
  readonly request: number
  /** How many times as long a request takes as one among ten thousand, in each round. */
  readonly ratios: readonly number[]
}

const base = 10_000
const sizes = [1000, base, 1_000_000, 10_000_000]
// What a token and a session take in the file.
const bytesOfRow = 1000

interface Asked extends LookUp {
  readonly task: Task
  /** The header of whoever has the token or session of that number. */
  value(number: number): string
}

const lookUps: readonly Asked[] = [
  asked(
    'bearer token',
    'bearer',
    (number) => `Bearer ${token(number)}`,
    (number) => storedToken(token(number)),
  ),
  asked(
    'session',
    'session',
    (number) => serverOf('site').cookie(number),
    (number) => digestOf(session(number)),
  ),
]

/** @param stored what the token or session of that number is looked up by */
function asked(
  name: string,
  key: string,
  value: (number: number) => string,
  stored: (number: number) => string | undefined,
): Asked {
  const task = taskOf(key)
  const { path, header = 'Authorization' } = task
  return {
    name,
    task,
    value,
    path,
    headers: { [header]: value(sample) },
    keys: (number, { users }) =>
      new Map([
        [stored(sample), stored(number) ?? ''],
        [user(sample).id, user(number % users).id],
      ]),
  }
}

/**
 * Takes the statements from the site as it answers, and times them, and whole requests, on databases of all sizes, taking
 * turns.
 *
 * @param most how many rows of a kind there are at most, if this machine holds them
 */
export async function measureGrowth(pace: Pace, most: number): Promise<GrowthResult[]> {
  const files = new Map<Amounts, string>()
  for (const rows of sizes) {
    const amounts = { users: usual.users, tokens: rows, sessions: rows }
    if (rows > most) continue
    if (isHeld(amounts)) files.set(amounts, await database(amounts))
    else console.log(`This machine has not the memory or the disk for ${rows.toLocaleString('en')} rows.`)
  }
  for (const file of files.values()) refresh(file)
  const statements = await statementsOf(lookUps, [...files.values()][0] ?? '')
  const results: GrowthResult[] = []
  for (const lookUp of lookUps) {
    const { times, plan } = timesOf(lookUp, statements.get(lookUp) ?? [], files)
    const requests = await requestsOf(lookUp, files, pace)
    const found = [...files.keys()].map(({ tokens: rows }, place) => ({
      rows,
      statements: times[place] ?? Number.NaN,
      ...(requests[place] ?? { request: Number.NaN, ratios: [] }),
    }))
    results.push({ name: lookUp.name, sizes: found, plan })
  }
  return results
}

/** Up to a million rows any machine holds; beyond, the file should be in memory as a whole, unless it is there already. */
function isHeld(amounts: Amounts): boolean {
  if (amounts.tokens <= 1_000_000 || isMade(amounts)) return true
  const { bavail, bsize } = statfsSync(import.meta.dirname)
  const needed = amounts.tokens * bytesOfRow
  return totalmem() > 1.5 * needed && bavail * bsize > 1.5 * needed
}

/** The same look-up as the site makes it, on databases of all sizes, taking turns; nothing is remembered. */
async function requestsOf(
  { task, value }: Asked,
  files: ReadonlyMap<Amounts, string>,
  pace: Pace,
): Promise<Pick<SizeResult, 'request' | 'ratios'>[]> {
  const sites = new Map([...files].map(([amounts, file]) => [siteWith(amounts, file), amounts]))
  const values = (server: Server) => spread(sites.get(server) ?? usual).map(value)
  const taken = await takeTurns({ ...task, values }, [...sites.keys()], pace)
  const timesOn = ({ key }: Server) => (taken[key]?.turns ?? []).map((capacity) => 1e6 / capacity)
  const atBase = [...sites].flatMap(([server, { tokens }]) => (tokens === base ? timesOn(server) : []))
  return [...sites.keys()].map((server) => {
    const times = timesOn(server)
    return {
      request: median(times),
      ratios: times.map((time, round) => time / (atBase[round] ?? Number.NaN)),
    }
  })
}

/** Nobody writes to it while it is measured, so that it needs no copy. */
function siteWith({ tokens }: Amounts, file: string): Server {
  return {
    ...serverOf('site'),
    key: `site-${tokens}`,
    environment: { LOOKUP_CACHE: 'off' },
    rows: { isShared: true, database: async () => file, refresh },
  }
}

/** At most 100,000 numbers from all over the rows. Each belongs to the user that its place in the list would. */
function spread({ users, tokens }: Amounts): number[] {
  const amount = Math.min(tokens, 100_000)
  const times = tokens / amount
  return Array.from({ length: amount }, (_, place) => {
    const block = Math.floor(place / users) * times + (place % times)
    return block * users + (place % users)
  })
}
