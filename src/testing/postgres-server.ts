import { type ChildProcess, execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findPrograms, handOver, run, start } from './postgres-programs.ts'

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '400',
  autovacuum: 'off',
}
// Where nothing has to outlive the tests.
const careless = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

// Those that the last one has left behind go by themselves.
const longestRest = 10_000

/** Starts one on a free port. One that is careful writes to the disk before it says so, as PostgreSQL does by itself. */
export async function startPostgres({ isCareful = false } = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-postgres-'))
  try {
    await handOver(folder)
    const { initdb, postgres } = await findPrograms(folder)
    const password = randomBytes(12).toString('base64url')
    await makeCluster(folder, initdb, password)
    const port = await freePort()
    const all = { ...settings, ...(!isCareful && careless), port }
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const server = new PostgresServer({
      folder,
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      command: [postgres, ['-D', join(folder, 'data'), ...flags]],
    })
    await server.start()
    return server
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

interface Cluster {
  readonly folder: string
  readonly url: string
  readonly command: readonly [program: string, words: string[]]
}

/** A PostgreSQL for tests, with data in a temporary folder. */
export class PostgresServer {
  /** Of a database that is always there, as somebody who may make others. */
  readonly url: string
  readonly #cluster: Cluster
  #process: ChildProcess | undefined

  constructor(cluster: Cluster) {
    this.url = cluster.url
    this.#cluster = cluster
  }

  /** Starts it, on what it has left behind if it ran before, and waits until it is ready. */
  async start(): Promise<void> {
    const [program, words] = this.#cluster.command
    for (const deadline = performance.now() + longestRest; ; await sleep(50)) {
      const process = start(program, words)
      try {
        await untilReady(process)
        this.#process = process
        return
      } catch (error) {
        if (performance.now() > deadline) throw error
      }
    }
  }

  /** Ends it: on SIGINT it says goodbye to everybody, on SIGQUIT and SIGKILL it has to recover when it starts again. */
  async end(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void> {
    const { process } = this
    if (process.exitCode !== null || process.signalCode !== null) return
    const ended = once(process, 'exit')
    process.kill(signal)
    await ended
  }

  /** Stops the clock for it: all its processes, which answer nothing and close nothing. */
  freeze(): Promise<void> {
    return this.#signalAll('SIGSTOP')
  }

  /** Lets it go on. */
  thaw(): Promise<void> {
    return this.#signalAll('SIGCONT')
  }

  /** Stops it, and takes everything away. */
  async stop(): Promise<void> {
    // Whatever state it is in: it waits for nobody, and nothing has to be written any more.
    await this.end('SIGQUIT')
    await rm(this.#cluster.folder, { recursive: true, force: true })
  }

  get process(): ChildProcess {
    if (!this.#process) throw new Error('PostgreSQL has not been started.')
    return this.#process
  }

  async #signalAll(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    // First the one who makes the others.
    this.process.kill(signal)
    const { stdout } = await promisify(execFile)('pgrep', ['-P', String(this.process.pid)])
    for (const pid of stdout.trim().split('\n')) process.kill(Number(pid), signal)
  }
}

async function makeCluster(folder: string, initdb: string, password: string): Promise<void> {
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, password)
  await handOver(passwordFile)
  await run(initdb, [
    ...['--pgdata', join(folder, 'data'), '--username', 'postgres'],
    ...['--pwfile', passwordFile, '--auth', 'scram-sha-256'],
    // Letters in another order than that of their bytes, so that nothing hangs on it unnoticed.
    ...['--locale', 'C', '--locale-provider', 'icu', '--icu-locale', 'en-US', '--encoding', 'UTF8'],
    '--no-sync',
  ])
}

async function untilReady(server: ChildProcess): Promise<void> {
  const said: string[] = []
  if (!server.stderr) throw new Error('PostgreSQL has nowhere to say that it is ready.')
  const lines = createInterface(server.stderr)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  lines.on('line', (line) => {
    said.push(line)
    if (line.includes('database system is ready to accept connections')) resolve()
  })
  server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said.join('\n')}`)))
  await promise
  said.length = 0
  lines.on('line', () => (said.length = 0))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (typeof address !== 'object' || !address) throw new Error('A port has no number.')
  return address.port
}
