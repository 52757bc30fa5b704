import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import Database from 'better-sqlite3'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/open-database.ts'
import { pageCacheSize } from '../src/database/sqlite/page-cache.ts'
import { createLog } from '../src/log.ts'
import { schema } from '../src/schema.ts'
import { siteUses } from '../src/web/last-uses.ts'
import { type Amounts, publicUrl } from './data.ts'

/** A request whose look-up is measured. */
export interface LookUp {
  readonly name: string
  readonly path: string
  /** Those of whoever has the token or session of the number {@link sample}. */
  readonly headers: Record<string, string>
  /** What stands in the statements of another number in place of what stands in those of {@link sample}. */
  keys(number: number, amounts: Amounts): Map<unknown, string>
}

/** A statement that the site has run, and the values that it was given. */
interface Ran {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** The number of whoever the statements are taken from. */
export const sample = 7
// The fastest of so many counts: whatever else the machine does takes time and gives none.
const timesAlone = 8

/**
 * Microseconds for nothing but the statements, in a loop over the same 20,000 rows, in each of the files; and how SQLite finds
 * the rows in the last.
 */
export function timesOf(
  lookUp: LookUp,
  statements: readonly Ran[],
  files: ReadonlyMap<Amounts, string>,
): { times: number[]; plan: string[] } {
  const opened = [...files].map(([amounts, path]) => ({
    amounts,
    file: new Database(path),
    taken: [] as number[],
  }))
  for (const { file } of opened) file.pragma(`cache_size = -${pageCacheSize}`)
  for (let round = 0; round <= timesAlone; round += 1) {
    for (const { file, amounts, taken } of opened) {
      const time = timeOf(file, lookUp, statements, amounts)
      // The first is for the caches.
      if (round > 0) taken.push(time)
    }
  }
  const largest = opened.at(-1)?.file
  const plan = statements.flatMap((statement) => (largest ? planOf(largest, statement) : []))
  for (const { file } of opened) file.close()
  return { times: opened.map(({ taken }) => Math.min(...taken)), plan }
}

/** Microseconds for the statements of one look-up, on average over many that are spread over all rows. */
function timeOf(
  file: Database.Database,
  lookUp: LookUp,
  statements: readonly Ran[],
  amounts: Amounts,
): number {
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

function planOf(file: Database.Database, { sql, values }: Ran): string[] {
  const rows = file.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`).all(...values)
  return rows.map(({ detail }) => detail)
}

/** The statements that read rows while a site on that file answers, on the second request: the first may ask for more. */
export async function statementsOf(all: readonly LookUp[], path: string): Promise<Map<LookUp, Ran[]>> {
  const config = readConfig({
    NODE_ENV: 'production',
    DATABASE_URL: `sqlite:${path}`,
    PUBLIC_URL: publicUrl,
    JWT_SECRET: 'at-the-very-least-thirty-two-bytes-for-HS256',
    TRUST_PROXY: '1',
    // What is remembered is not asked for.
    LOOKUP_CACHE: 'off',
  })
  const orm = await openDatabase(config.databaseUrl, schema)
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
