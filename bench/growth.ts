import { spread, token } from './data.ts'
import { original, sqliteRows } from './database.ts'
import type { Figures } from './results.ts'
import { measureRounds, type RunLength } from './rounds.ts'
import { type Server, serverOf } from './servers.ts'
import { taskOf } from './tasks.ts'

const sizes = [10_000, 1_000_000]

/** Measures the requests per second of the site with few and with many tokens and sessions. */
export async function measureGrowth(runLength: RunLength): Promise<Record<string, Figures>> {
  // Creates both databases before a server starts. Otherwise, the first server would wait minutes for the second database. The
  // last uses in the first database would then be old, so the first server would write new ones during the measurement.
  for (const rows of sizes) await original({ tokens: rows, sessions: rows })
  const sites = new Map(sizes.map((rows) => [siteWith(rows), spread(rows)]))
  const numbers = (server: Server) => sites.get(server) ?? []
  const bearer = {
    ...taskOf('bearer'),
    values: (server: Server) => numbers(server).map((number) => `Bearer ${token(number)}`),
  }
  const session = {
    ...taskOf('session'),
    values: (server: Server) => numbers(server).map((number) => server.cookie(number)),
  }
  return {
    'growth-bearer': await measureRounds(bearer, [...sites.keys()], runLength),
    'growth-session': await measureRounds(session, [...sites.keys()], runLength),
  }
}

function siteWith(rows: number): Server {
  return {
    ...serverOf('site'),
    key: `${rows.toLocaleString('en')} rows`,
    rows: sqliteRows({ tokens: rows, sessions: rows }),
  }
}
