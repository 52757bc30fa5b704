import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isPostgresUrl } from '../src/database/database-url.ts'
import { bcryptCost, folder, publicUrl } from './data.ts'
import { age, discard } from './database.ts'
import type { Keys } from './keys.ts'
import { loadCore, onCore } from './machine.ts'
import { ours, type Server } from './servers.ts'

/** A server that runs, on a copy of the database of its own. */
export interface Running {
  readonly server: Server
  readonly url: string
  readonly pid: number | undefined
  /** Milliseconds from the start of the process to its first answer. */
  readonly startup: number
  /** Says of all of its rows that they were not used for a while. */
  age(): void
  stop(): Promise<void>
}

export interface StartOptions {
  /** The core that it may use; any if there is none. */
  readonly core?: number | undefined
  /** Its database, in place of a copy. */
  readonly shared?: string
}

const running = new Set<ChildProcess>()
// Whoever ends the benchmark ends its servers.
process.once('exit', () => {
  for (const each of running) each.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

/** Starts a server as its users do, in production, and waits for its first answer. */
export async function start(
  server: Server,
  keys: Keys,
  { core, shared }: StartOptions = {},
): Promise<Running> {
  const rows = server.rows ?? ours
  const database = shared ?? (rows.isShared ? await rows.database() : copy(await rows.database(), server.key))
  // The rows may have been made hours ago: the site would purge sessions that nobody has used since.
  if (!shared) rows.refresh(database)
  const port = await freePort()
  const options: SpawnOptions = {
    // A folder without an `.env`, so that nothing of the reader's own comes into it.
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      TRUST_PROXY: '1',
      DATABASE: database,
      DATABASE_URL: isPostgresUrl(database) ? database : `sqlite:${database}`,
      BCRYPT_COST: String(bcryptCost),
      DRAIN_SECONDS: '0',
      ...keys.environment,
      ...server.environment,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  }
  const begin = performance.now()
  const child = run(server.program, core, options)
  const url = `http://127.0.0.1:${port}`
  await firstAnswer(url, child, server)
  const startup = performance.now() - begin
  const all = server.beside ? [child, run(server.beside, loadCore, options)] : [child]
  const stopAll = async () => void (await Promise.all(all.map(stop)))
  return { server, url, pid: child.pid, startup, age: () => age(database), stop: stopAll }
}

function run(program: readonly string[], core: number | undefined, options: SpawnOptions): ChildProcess {
  const [command = '', ...args] = onCore(core, [process.execPath, ...program])
  const child = spawn(command, args, options)
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** The data that a server is given: nobody's writes are in anybody's way. */
export function copy(original: string, name: string): string {
  const path = join(folder, 'copies', `${name}.sqlite`)
  mkdirSync(join(folder, 'copies'), { recursive: true })
  discard(path)
  copyFileSync(original, path)
  return path
}

async function firstAnswer(url: string, child: ChildProcess, { name }: Server): Promise<void> {
  const deadline = performance.now() + 20_000
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode} before it answered.`)
    try {
      // No connection is kept: while the next server's database is copied, nobody would see that it is closed again.
      const answer = await fetch(`${url}/healthz`, { headers: { Connection: 'close' } })
      await answer.arrayBuffer()
      return
    } catch {
      await sleep(5)
    }
  }
  child.kill('SIGKILL')
  throw new Error(`${name} gave no answer in 20 seconds.`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** A port of this machine that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
