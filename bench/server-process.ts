import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bcryptCost, folder, publicUrl } from './data.ts'
import { onCore } from './machine.ts'

export interface Program {
  /** Its name on the command line and in the results. */
  readonly key: string
  /** The arguments for Node. */
  readonly program: readonly string[]
}

export interface RunningServer {
  readonly key: string
  readonly url: string
  readonly pid: number | undefined
  /** Milliseconds from the start of the process to its first response. */
  readonly startup: number
  stop(): Promise<void>
}

export const site: Program = {
  key: 'site',
  program: [join(import.meta.dirname, '../src/start.js'), 'server'],
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

/**
 * Starts a server in production mode and waits for its first response.
 *
 * @param environment the database and the keys
 * @param core pins the server to a core
 */
export async function start(
  { key, program }: Program,
  environment: Readonly<Record<string, string>>,
  core?: number,
): Promise<RunningServer> {
  const port = await freePort()
  const [command = '', ...args] = onCore(core, [process.execPath, ...program])
  const begin = performance.now()
  const child = spawn(command, args, {
    // A folder without an `.env` file.
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      TRUST_PROXY: '1',
      BCRYPT_COST: String(bcryptCost),
      DRAIN_SECONDS: '0',
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  const url = `http://127.0.0.1:${port}`
  await firstAnswer(key, url, child)
  return { key, url, pid: child.pid, startup: performance.now() - begin, stop: () => stop(child) }
}

async function firstAnswer(key: string, url: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + 20_000
  while (performance.now() < deadline) {
    if (child.exitCode !== null)
      throw new Error(`${key} ended with ${child.exitCode} before its first response.`)
    try {
      const signal = AbortSignal.timeout(2000)
      const answer = await fetch(`${url}/healthz`, { headers: { Connection: 'close' }, signal })
      await answer.arrayBuffer()
      return
    } catch {
      await sleep(5)
    }
  }
  child.kill('SIGKILL')
  throw new Error(`${key} did not respond within 20 seconds.`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('There is no free port.')
  return address.port
}
