import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'

/** A server process, started as by `npm start`, on a free port. */
export interface Server {
  readonly url: string
  /** The path of its SQLite file. */
  readonly database: string
  /** Stops the server with SIGTERM. Throws if its exit code is not 0. */
  stop(): Promise<void>
}

/** Starts a server with a new database. It inherits only `PATH` from the environment, and does not read `.env` of the repository. */
export async function startServer(variables: Record<string, string>): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), 'koa-authenticators-e2e-'))
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/start.js'), 'server'], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'test',
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'info',
      BCRYPT_COST: '4',
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  return {
    url: await listening(createInterface(child.stdout)),
    database: join(dataDir, 'site.sqlite'),
    async stop() {
      child.kill('SIGTERM')
      const [code, signal] = await exited
      await rm(dataDir, { recursive: true })
      if (code !== 0) throw new Error(`The server stopped with ${signal ?? `exit code ${code}`}.`)
    },
  }
}

// Keeps reading all lines, because a full pipe would block the log.
function listening(log: Interface): Promise<string> {
  return new Promise((resolve, reject) => {
    log.on('line', (line) => {
      const { msg, url } = JSON.parse(line)
      if (msg === 'listening') resolve(url)
    })
    log.once('close', () => reject(new Error('The server stopped before it was listening.')))
  })
}
