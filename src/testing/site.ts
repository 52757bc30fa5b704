import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { MikroORM } from '@mikro-orm/core'
import { createApp } from '../app.ts'
import { type Config, readConfig } from '../config.ts'
import { openDatabase } from '../database/open-database.ts'
import { createLog } from '../log.ts'

/** The site as it ships, on a free port and a database file of its own. */
export interface Site {
  readonly url: string
  readonly orm: MikroORM
  readonly config: Config
  /** Every line of the log so far. */
  readonly log: string[]
  readonly lifecycle: { isDraining: boolean }
}

interface Test {
  after(run: () => Promise<void>): void
}

/** Starts the site for one test, or one group of tests, and takes it away afterwards. */
export async function startSite(test: Test, environment: Record<string, string> = {}): Promise<Site> {
  const dataDir = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
  const config = readConfig({ NODE_ENV: 'test', DATA_DIR: dataDir, BCRYPT_COST: '4', ...environment })
  const log: string[] = []
  const sink = new Writable({
    write(line, _encoding, done) {
      log.push(String(line))
      done()
    },
  })
  const orm = await openDatabase(config.databaseUrl)
  const lifecycle = { isDraining: false }
  const app = await createApp({ orm, config, log: createLog('trace', sink), lifecycle })
  const server = createServer(app.callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(async () => {
    server.closeAllConnections()
    server.close()
    await orm.close()
    await rm(dataDir, { recursive: true })
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, orm, config, log, lifecycle }
}
