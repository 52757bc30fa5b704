import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from './app.ts'
import { Audit } from './audit/audit.ts'
import { ConfigError, readConfig } from './config.ts'
import { DatabaseError, openDatabase } from './database/open-database.ts'
import { httpServer } from './http-server.ts'
import { createLog, loggable } from './log.ts'
import { startPurging } from './purge.ts'
import { Throttle } from './throttle/throttle.ts'
import { SessionStore } from './web/session-store.ts'

// The time that what was accepted has to finish in, once no more is accepted.
const finishing = 10_000

try {
  await serve()
} catch (error) {
  console.error(isForOperator(error) ? error.message : error)
  process.exit(1)
}

async function serve(): Promise<void> {
  const config = readConfig()
  const log = createLog(config.logLevel)
  for (const warning of config.warnings) log.warn(warning)
  process.on('warning', (warning) =>
    log.warn({ code: 'code' in warning ? warning.code : undefined }, warning.message),
  )
  process.on('uncaughtException', (error) => {
    log.fatal(loggable(error), 'a bug: this process ends')
    process.exit(1)
  })

  const orm = await openDatabase(config.databaseUrl)
  const lifecycle = { isDraining: false }
  const app = await createApp({ orm, config, log, lifecycle })
  const server = httpServer(app, lifecycle)
  server.listen(config.port, config.host)
  await once(server, 'listening')

  const stopPurging = startPurging([new Throttle(orm), new SessionStore(orm), new Audit(orm, log)], log)
  const stop = async (signal: string) => {
    if (lifecycle.isDraining) process.exit(1)
    lifecycle.isDraining = true
    log.info({ signal }, 'stopping')
    await sleep(config.drainSeconds * 1000)
    await close(server)
    await stopPurging()
    await orm.close()
    log.info('stopped')
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // Last, so that whoever waits for this line can stop us from then on.
  log.info({ url: urlOf(server, config.host) }, 'listening')
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  // A connection that was busy then would be kept for a next request.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  await Promise.race([closed, sleep(finishing)])
  clearInterval(idle)
  server.closeAllConnections()
}

function urlOf(server: Server, host: string): string {
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : undefined
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Whether the message says all that the operator needs: what is wrong is outside this program. */
function isForOperator(error: unknown): error is Error {
  if (error instanceof ConfigError || error instanceof DatabaseError) return true
  return error instanceof Error && 'syscall' in error && error.syscall === 'listen'
}
