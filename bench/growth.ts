import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import Database from 'better-sqlite3'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/open-database.ts'
import { createLog } from '../src/log.ts'
import { storedToken } from '../src/users/token-value.ts'
import { digestOf } from '../src/web/session-store.ts'
import { type Amounts, publicUrl, session, token, user, usual } from './data.ts'
import { database, refresh } from './database.ts'
import { newKeys } from './keys.ts'
import { load } from './load.ts'
import { serverCore } from './machine.ts'
import { median } from './median.ts'
import { type Running, start } from './server-process.ts'
import { serverOf } from './servers.ts'
import { loadOf, taskOf } from './tasks.ts'

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
export async function measureGrowth(rounds: number, warmUp: number): Promise<GrowthResult[]> {
  const files = { small: new Database(await database(few)), large: new Database(await database(many)) }
  const results: GrowthResult[] = []
  for (const [lookUp, statements] of await statementsOf(lookUps)) {
    const taken: Record<'small' | 'large', number[]> = { small: [], large: [] }
    for (let round = 0; round < rounds + 1; round += 1) {
      const small = time(files.small, lookUp, statements, few)
      const large = time(files.large, lookUp, statements, many)
      // The first is for the caches.
      if (round > 0) taken.small.push(small)
      if (round > 0) taken.large.push(large)
    }
    results.push({
      name: lookUp.name,
      statements: { small: Math.min(...taken.small), large: Math.min(...taken.large) },
      ...(await requests(lookUp, rounds, warmUp)),
      plan: statements.flatMap((statement) => planOf(files.large, statement)),
    })
  }
  return results
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
  { task: key, header }: LookUp,
  rounds: number,
  warmUp: number,
): Promise<Pick<GrowthResult, 'request' | 'ratios'>> {
  const keys = newKeys('HS256')
  const sites = [few, many].map((amounts) => {
    const values = () =>
      Array.from({ length: 100_000 }, (_, i) => header(Math.floor((i * amounts.tokens) / 100_000)))
    const rows = { database: () => database(amounts), refresh }
    const name = `site-${amounts.tokens}`
    const server = { ...serverOf('site'), key: name, rows, environment: { LOOKUP_CACHE: 'off' } }
    return { server, asked: loadOf({ ...taskOf(key), values }, server, keys), taken: [] as number[] }
  })
  const running: Running[] = []
  try {
    // The large one first: to say of all its rows that they are in use takes longest, and holds for a minute.
    for (const { server } of sites.toReversed())
      running.unshift(await start(server, keys, { core: serverCore }))
    for (const [i, { asked }] of sites.entries()) await load(running[i] as Running, asked, warmUp)
    for (let round = 0; round < rounds; round += 1)
      for (const [i, { asked, taken }] of sites.entries())
        taken.push(1e6 / (await load(running[i] as Running, asked, 1)).capacity)
  } finally {
    await Promise.all(running.map((each) => each.stop()))
  }
  const [small = [], large = []] = sites.map(({ taken }) => taken)
  const ratios = large.map((each, round) => each / (small[round] ?? Number.NaN))
  return { request: { small: median(small), large: median(large) }, ratios }
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
  const app = await createApp({
    orm,
    config,
    log: createLog('silent', nowhere),
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
