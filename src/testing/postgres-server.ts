import { type ChildProcess, execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { memoryFolder } from './memory-folder.ts'
import { changeOwner, findPrograms, makeCluster, start } from './postgres-programs.ts'

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '400',
  autovacuum: 'off',
}
// A crash may lose data, but the tests are faster.
const notDurable = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

// The processes of a killed server may run for some seconds, and block the next start.
const isBlocked = /lock file .* already exists|still in use/

/** Starts a PostgreSQL server on a free port. If `isDurable`, it syncs each commit to the disk. */
export async function startPostgres({ isDurable = false } = {}): Promise<PostgresServer> {
  // Creating a database in memory needs only a tenth of the processor time.
  // The programs are on the disk, because a file system in memory may forbid execution.
  const folder = await mkdtemp(join(isDurable ? tmpdir() : memoryFolder(), 'koa-authenticators-postgres-'))
  const programs = await mkdtemp(join(tmpdir(), 'koa-authenticators-programs-'))
  const folders = [folder, programs]
  try {
    for (const each of folders) await changeOwner(each)
    const { initdb, postgres } = await findPrograms(programs)
    const password = randomBytes(12).toString('base64url')
    await makeCluster(folder, initdb, password)
    const port = await freePort()
    const all = { ...settings, ...(!isDurable && notDurable), port }
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const server = new PostgresServer({
      folders,
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      command: [postgres, ['-D', join(folder, 'data'), ...flags]],
    })
    await server.start()
    return server
  } catch (error) {
    await deleteFolders(folders)
    throw error
  }
}

async function deleteFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
}

interface Cluster {
  readonly folders: readonly string[]
  readonly url: string
  readonly command: readonly [program: string, args: string[]]
}

/** A PostgreSQL server with its data in a temporary folder. */
export class PostgresServer {
  /** The URL of the database `postgres`, as a superuser. */
  readonly url: string
  readonly cluster: Cluster
  #process: ChildProcess | undefined

  constructor(cluster: Cluster) {
    this.url = cluster.url
    this.cluster = cluster
  }

  /** Starts the server, and waits until it is ready. */
  async start(): Promise<void> {
    const [program, args] = this.cluster.command
    for (;;) {
      const process = start(program, args)
      try {
        await untilReady(process)
        this.#process = process
        return
      } catch (error) {
        if (!isBlocked.test(String(error))) throw error
        await sleep(50)
      }
    }
  }

  /** Stops the server. SIGINT is a fast shutdown. After SIGQUIT or SIGKILL, the next start recovers the data. */
  async end(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void> {
    const { process } = this
    if (process.exitCode !== null || process.signalCode !== null) return
    const ended = once(process, 'exit')
    process.kill(signal)
    await ended
  }

  /** Pauses all processes of the server. */
  freeze(): Promise<void> {
    return this.#signalAll('SIGSTOP')
  }

  thaw(): Promise<void> {
    return this.#signalAll('SIGCONT')
  }

  /** Stops the server and deletes its data. */
  async stop(): Promise<void> {
    await this.end('SIGQUIT')
    await deleteFolders(this.cluster.folders)
  }

  get process(): ChildProcess {
    if (!this.#process) throw new Error('PostgreSQL has not been started.')
    return this.#process
  }

  async #signalAll(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    // Signals the parent first, so that it starts no further child.
    this.process.kill(signal)
    const { stdout } = await promisify(execFile)('pgrep', ['-P', String(this.process.pid)])
    for (const pid of stdout.trim().split('\n')) process.kill(Number(pid), signal)
  }
}

async function untilReady(server: ChildProcess): Promise<void> {
  const log: string[] = []
  if (!server.stderr) throw new Error('PostgreSQL was started without a pipe for its log.')
  const lines = createInterface(server.stderr)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  lines.on('line', (line) => {
    log.push(line)
    if (line.includes('is ready to accept ')) resolve()
  })
  server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log.join('\n')}`)))
  await promise
  log.length = 0
  lines.on('line', () => (log.length = 0))
}
