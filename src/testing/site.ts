import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MikroORM } from '@mikro-orm/core'
import { createServices, type Services } from '../account/services.ts'
import { createApp } from '../app.ts'
import { type Config, readConfig } from '../config/config.ts'
import { openDatabase } from '../database/open-database.ts'
import { httpServer } from '../http/http-server.ts'
import { createLog } from '../log/log.ts'
import type { Outbox } from '../mail/outbox.ts'
import { mails } from '../mails.ts'
import { schema } from '../schema.ts'
import { password } from './password.ts'
import { makeDatabase, type TestDatabase } from './test-database.ts'
import { Visitor } from './visitor.ts'

/** A running site with its own port and database. */
export interface Site {
  readonly url: string
  readonly orm: MikroORM
  readonly config: Config
  readonly database: TestDatabase
  readonly services: Services
  readonly uses: Services['uses']
  /** The outbox, which sends mails only when a test calls `sendDue`. */
  readonly outbox: Outbox | undefined
  /** Writes the pending times of last use of sessions and tokens now. */
  writeUses(): Promise<void>
  readonly log: string[]
  readonly lifecycle: { isDraining: boolean }
  /** The issued secrets. After the test, no line of the log may contain one. */
  readonly secrets: Set<string>
  /** A new visitor, optionally with a session cookie. */
  visitor(session?: string): Visitor
}

interface Test {
  after(run: () => Promise<void>): void
}

/** The limits of the product that a test needs. Others are so long that no test meets them on a slow machine. */
interface Limits {
  /** How long a statement may wait for a connection or for a lock, in milliseconds. */
  readonly databaseTimeout?: number
  /** Whether `PUBLIC_URL` is the address of the site. */
  readonly isPublic?: boolean
}

// In milliseconds.
const long = 600_000

/** Runs the site until the test or the group of tests ends. */
export async function startSite(
  test: Test,
  environment: Record<string, string> = {},
  { databaseTimeout = long, isPublic = false }: Limits = {},
): Promise<Site> {
  const dataDir = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
  const database = await makeDatabase(dataDir)
  // Listens first, because the configuration may need the port.
  let handle: RequestListener = (_request, response) => response.writeHead(503).end()
  const { server } = httpServer({ callback: () => async (request, response) => handle(request, response) })
  Object.assign(server, { headersTimeout: long, requestTimeout: long, keepAliveTimeout: long, timeout: long })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const config = readConfig({
    NODE_ENV: 'test',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    BCRYPT_COST: '4',
    THROTTLE: 'off',
    ...(isPublic && { PUBLIC_URL: url }),
    ...environment,
  })
  const log: string[] = []
  const sink = { write: (line: string) => void log.push(line) }
  const orm = await openDatabase(config.databaseUrl, {
    ...schema,
    connections: config.databasePool,
    timeout: databaseTimeout,
  })
  const lifecycle = { isDraining: false }
  const siteLog = createLog('trace', sink)
  const services = createServices(orm, config, siteLog, mails)
  const { uses, outbox } = services
  const app = await createApp({ orm, config, log: siteLog, services, lifecycle })
  handle = app.callback()
  const secrets = new Set<string>()
  test.after(async () => {
    server.closeAllConnections()
    server.close()
    await Promise.all([uses.sessions.write(), uses.tokens.write()])
    await orm.close()
    await database.drop()
    await rm(dataDir, { recursive: true })
    assertKeepsSecrets(log, secrets)
  })
  const writeUses = async () => {
    await Promise.all([uses.sessions.write(), uses.tokens.write()])
  }
  const visitor = (session?: string) => new Visitor({ url, secrets }, session)
  return { url, orm, config, database, services, uses, outbox, writeUses, log, lifecycle, secrets, visitor }
}

/** Asserts that each line of the log is a JSON object without a secret. */
function assertKeepsSecrets(log: readonly string[], secrets: ReadonlySet<string>): void {
  for (const line of log) {
    assert.match(line, /^\{[^\n]*\}\n$/)
    JSON.parse(line)
    assert.doesNotMatch(line, /\$2[aby]\$|password_?hash/i)
    for (const secret of [password, ...secrets]) assert.ok(!line.includes(secret), 'a secret in the log')
  }
}
