import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import Database from 'better-sqlite3'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/open-database.ts'
import { pageCacheSize } from '../src/database/sqlite/page-cache.ts'
import { createLog } from '../src/log.ts'
import { storedToken } from '../src/users/token-value.ts'
import { siteUses } from '../src/web/last-uses.ts'
import { digestOf } from '../src/web/session-store.ts'
import { type Amounts, publicUrl, session, token, user, usual } from './data.ts'
import { database, refresh } from './database.ts'
import { median } from './median.ts'
import { type Server, serverOf } from './servers.ts'
import { taskOf } from './tasks.ts'
import { type Pace, takeTurns } from './turns.ts'

/** What one look-up takes among few rows and among many, in microseconds. */
export interface GrowthResult {
  readonly name: string
  /** Its statements, one after the other in a loop. */
  readonly statements: Pair
  /** The processor's time for a whole request of the site, of which they are a part. */
  readonly request: Pair
  /** How many times as long a request takes among many, in each round. */
  readonly ratios: readonly number[]
  /** How SQLite finds the rows. */
  readonly plan: readonly string[]
}

interface Pair {
  readonly small: number
  readonly large: number
}

/** A statement that the site has run, and the values that it was given. */
interface Ran {
  readonly sql: string
  readonly values: readonly unknown[]
}

interface LookUp {
  readonly name: string
  /** The key of the task that measures it. */
  readonly task: string
  /** The header of whoever has the token or session of that number. */
  header(number: number): string
  readonly headers: Record<string, string>
  readonly path: string
  /** The values of the statements that tell one row from another. */
  keys(number: number, amounts: Amounts): Map<unknown, string>
}

const few: Amounts = { users: usual.users, tokens: 10_000, sessions: 10_000 }
const many: Amounts = { users: usual.users, tokens: 1_000_000, sessions: 1_000_000 }
const sample = 7
// The fastest of so many counts: whatever else the machine does takes time and gives none.
const timesAlone = 8

const lookUps: readonly LookUp[] = [
  {
    name: 'bearer token',
    task: 'bearer',
    header: (number) => `Bearer ${token(number)}`,
    path: '/me',
    headers: { Authorization: `Bearer ${token(sample)}` },
    keys: (number, { users }) =>
      new Map([
        [storedToken(token(sample)), storedToken(token(number)) ?? ''],
        [user(sample).id, user(number % users).id],
      ]),
  },
  {
    name: 'session',
    task: 'session',
    header: (number) => serverOf('site').cookie(number),
    path: '/account',
    headers: { Cookie: `__Host-session=${session(sample)}` },
    keys: (number, { users }) =>
      new Map([
        [digestOf(session(sample)), digestOf(session(number)) ?? ''],
        [user(sample).id, user(number % users).id],
      ]),
  },
]

/** Takes the statements from the site as it answers, and times them on databases of both sizes, taking turns. */
export async function measureGrowth(pace: Pace): Promise<GrowthResult[]> {
  const results: GrowthResult[] = []
  for (const [lookUp, statements] of await statementsOf(lookUps)) {
    const { name } = lookUp
    results.push({ name, ...(await alone(lookUp, statements)), ...(await requests(lookUp, pace)) })
  }
  return results
}

/** Nothing but the statements, in a loop. */
async function alone(
  lookUp: LookUp,
  statements: readonly Ran[],
): Promise<Pick<GrowthResult, 'statements' | 'plan'>> {
  const [small, large] = [new Database(await database(few)), new Database(await database(many))]
  for (const file of [small, large]) file.pragma(`cache_size = -${pageCacheSize()}`)
  const taken = { small: [] as number[], large: [] as number[] }
  for (let round = 0; round <= timesAlone; round += 1) {
    const times = {
      small: time(small, lookUp, statements, few),
      large: time(large, lookUp, statements, many),
    }
    // The first is for the caches.
    if (round === 0) continue
    taken.small.push(times.small)
    taken.large.push(times.large)
  }
  const plan = statements.flatMap((statement) => planOf(large, statement))
  for (const file of [small, large]) file.close()
  return { statements: { small: Math.min(...taken.small), large: Math.min(...taken.large) }, plan }
}

/** Microseconds for the statements of one look-up, on average over many that are spread over all rows. */
function time(file: Database.Database, lookUp: LookUp, statements: readonly Ran[], amounts: Amounts): number {
  const prepared = statements.map(({ sql }) => file.prepare(sql))
  const runs = 20_000
  const values = Array.from({ length: runs }, (_, run) => {
    const keys = lookUp.keys((run * 7919) % amounts.tokens, amounts)
    return statements.map((ran) => ran.values.map((value) => keys.get(value) ?? value))
  })
  const begin = performance.now()
  for (const all of values) {
    for (const [i, statement] of prepared.entries())
      if (!statement.get(...(all[i] ?? []))) throw new Error('No row.')
  }
  return ((performance.now() - begin) * 1000) / runs
}

/** The same look-up as the site makes it, on databases of both sizes, taking turns; nothing is remembered. */
async function requests(
  { task, header }: LookUp,
  pace: Pace,
): Promise<Pick<GrowthResult, 'request' | 'ratios'>> {
  const small = siteWith(few)
  const large = siteWith(many)
  const values = ({ key }: Server) => spread(key === small.key ? few : many).map(header)
  const taken = await takeTurns({ ...taskOf(task), values }, [small, large], pace)
  const times = ({ key }: Server) => (taken[key]?.turns ?? []).map((capacity) => 1e6 / capacity)
  const ratios = times(large).map((time, round) => time / (times(small)[round] ?? Number.NaN))
  return { request: { small: median(times(small)), large: median(times(large)) }, ratios }
}

function siteWith(amounts: Amounts): Server {
  return {
    ...serverOf('site'),
    key: `site-${amounts.tokens}`,
    environment: { LOOKUP_CACHE: 'off' },
    rows: { database: () => database(amounts), refresh },
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

function planOf(file: Database.Database, { sql, values }: Ran): string[] {
  const rows = file.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`).all(...values)
  return rows.map(({ detail }) => detail)
}

/** The statements that read rows while the site answers, on the second request: the first may ask for more. */
async function statementsOf(all: readonly LookUp[]): Promise<Map<LookUp, Ran[]>> {
  const path = await database(few)
  refresh(path)
  const config = readConfig({
    NODE_ENV: 'production',
    DATABASE_URL: `sqlite:${path}`,
    PUBLIC_URL: publicUrl,
    JWT_SECRET: 'at-the-very-least-thirty-two-bytes-for-HS256',
    TRUST_PROXY: '1',
    // What is remembered is not asked for.
    LOOKUP_CACHE: 'off',
  })
  const orm = await openDatabase(config.databaseUrl)
  const nowhere = new Writable({ write: (_line, _encoding, done) => done() })
  const log = createLog('silent', nowhere)
  const app = await createApp({
    orm,
    config,
    log,
    uses: siteUses(orm, log),
    lifecycle: { isDraining: false },
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const found = new Map<LookUp, Ran[]>()
  const recorder = record()
  try {
    for (const lookUp of all) {
      for (let time = 0; time < 2; time += 1) {
        recorder.ran.length = 0
        const headers = { 'X-Forwarded-Proto': 'https', ...lookUp.headers }
        const { status } = await fetch(`http://127.0.0.1:${port}${lookUp.path}`, {
          headers,
          redirect: 'manual',
        })
        if (status !== 200) throw new Error(`${lookUp.path} answered ${status}.`)
      }
      found.set(
        lookUp,
        recorder.ran.filter(({ sql }) => /^select/i.test(sql)),
      )
    }
  } finally {
    recorder.stop()
    server.closeAllConnections()
    server.close()
    await orm.close()
  }
  return found
}

/** Looks over the shoulder of the driver. */
function record() {
  const ran: Ran[] = []
  const statement = Object.getPrototypeOf(new Database(':memory:').prepare('select 1'))
  const names = ['get', 'all', 'run', 'iterate']
  const originals = new Map(names.map((name) => [name, Reflect.get(statement, name)]))
  for (const [name, original] of originals) {
    Reflect.set(statement, name, function (this: Database.Statement, ...values: unknown[]) {
      ran.push({ sql: this.source, values: values.flat() })
      return original.apply(this, values)
    })
  }
  return {
    ran,
    stop() {
      for (const [name, original] of originals) Reflect.set(statement, name, original)
    },
  }
}
