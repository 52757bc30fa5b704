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
const compileCache = join(root, 'node_modules/.cache/node')

interface Test {
  after(run: () => Promise<void>): void
}

export interface ProcessResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Creates a folder, and deletes it after the test. */
export async function temporaryFolder(test: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
  test.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Runs the server in a process with these environment variables. */
export function runServer(
  test: Test,
  variables: Record<string, string>,
  { node = process.execPath, options = [] as string[], site = root, cwd = root, isPatient = false } = {},
) {
  const program = isPatient ? 'testing/patient-server' : 'server'
  const child = spawn(node, [...options, join(site, 'src/start.js'), program], {
    cwd,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'test',
      NODE_COMPILE_CACHE: compileCache,
      BCRYPT_COST: '4',
      PORT: '0',
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 600_000,
    killSignal: 'SIGKILL',
  })
  const ended: Promise<ProcessResult> = Promise.all([
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

/** The variables for the database of a folder. On PostgreSQL each folder has one database. */
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

/** Starts the server in a process, and waits until it listens. If `isPatient`, no request meets a time limit on a busy machine. */
export async function startServer(
  test: Test,
  variables: Record<string, string>,
  options: { site?: string; isPatient?: boolean } = {},
) {
  const { child, ended } = runServer(test, { ...(await databaseFor(test, variables)), ...variables }, options)
  const log: Entry[] = []
  const messages = new EventEmitter()
  createInterface(child.stdout).on('line', (line) => {
    const entry: Entry = JSON.parse(line)
    log.push(entry)
    messages.emit(`log ${entry.msg}`, entry)
  })
  /** Waits for the first log entry with this message. */
  const says = async (message: string): Promise<Entry> => {
    const before = log.find(({ msg }) => msg === message)
    const failed = ended.then(({ stderr }) =>
      Promise.reject(new Error(`The process ended without logging "${message}". ${stderr}`)),
    )
    failed.catch(() => {})
    return before ?? (await Promise.race([once(messages, `log ${message}`), failed]))[0]
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
