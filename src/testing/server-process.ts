import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { isOnPostgres, makeDatabase, type TestDatabase } from './test-database.ts'
import { Visitor } from './visitor.ts'

const root = join(import.meta.dirname, '../..')
// Dozens of starts need not compile the same files again.
const compiled = join(root, 'node_modules/.cache/node')

interface Test {
  after(run: () => Promise<void>): void
}

/** How a process ended. */
export interface Ending {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A folder for one test. */
export async function temporaryFolder(test: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
  test.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Runs the server as an operator does, with these variables and none of ours but the path. */
export function runServer(
  test: Test,
  variables: Record<string, string>,
  { node = process.execPath, options = [] as string[], site = root, cwd = root } = {},
) {
  const child = spawn(node, [...options, join(site, 'src/start.js'), 'server'], {
    cwd,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compiled, BCRYPT_COST: '4', PORT: '0', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    // One that should have ended and did not fails its test, and does not hang it.
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  const ended: Promise<Ending> = Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]).then(([[code], stdout, stderr]) => ({ code, stdout, stderr }))
  test.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, ended }
}

const databases = new Map<string, Promise<TestDatabase>>()

/** The variables for the database of a folder: on PostgreSQL one that goes with it, as a file in it would, and is found again. */
export async function databaseFor(
  test: Test,
  { DATA_DIR = '', DATABASE_URL }: Record<string, string>,
): Promise<Record<string, string>> {
  if (DATABASE_URL !== undefined) return { DATA_DIR, DATABASE_URL }
  if (!isOnPostgres) return { DATA_DIR }
  const known = databases.get(DATA_DIR)
  const database = known ?? makeDatabase(DATA_DIR)
  databases.set(DATA_DIR, database)
  const { url, drop } = await database
  if (!known) test.after(drop)
  return { DATA_DIR, DATABASE_URL: url }
}

type Entry = Record<string, unknown>

/** Starts a server, and waits until it listens. */
export async function startServer(test: Test, variables: Record<string, string>, { site = root } = {}) {
  const { child, ended } = runServer(
    test,
    { ...(await databaseFor(test, variables)), ...variables },
    { site },
  )
  const log: Entry[] = []
  const said = new EventEmitter()
  createInterface(child.stdout).on('line', (line) => {
    const entry: Entry = JSON.parse(line)
    log.push(entry)
    said.emit(`said ${entry.msg}`, entry)
  })
  /** The first line of the log with that message, as soon as there is one. */
  const says = async (message: string): Promise<Entry> => {
    const before = log.find(({ msg }) => msg === message)
    const silent = ended.then(({ stderr }) =>
      Promise.reject(new Error(`It never said "${message}". ${stderr}`)),
    )
    silent.catch(() => {})
    return before ?? (await Promise.race([once(said, `said ${message}`), silent]))[0]
  }
  const { url } = await says('listening')
  const secrets = new Set<string>()
  return {
    url: String(url),
    child,
    ended,
    log,
    says,
    visitor: (session?: string) => new Visitor({ url: String(url), secrets }, session),
  }
}
