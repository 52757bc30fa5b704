import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from './app.ts'
import { Audit } from './audit/audit.ts'
import { ConfigError, readConfig } from './config.ts'
import { DatabaseError, openDatabase } from './database/open-database.ts'
import { Departure } from './departure.ts'
import { httpServer } from './http-server.ts'
import { createLog, loggable } from './log.ts'
import { startPurging } from './purge.ts'
import { Throttle } from './throttle/throttle.ts'
import { ExpiredTokens } from './users/expired-tokens.ts'
import { Devices } from './web/devices.ts'
import { SessionStore } from './web/session-store.ts'

try {
  await serve()
} catch (error) {
  console.error(isForOperator(error) ? error.message : error)
  process.exit(1)
}

async function serve(): Promise<void> {
  const config = readConfig()
  const log = createLog(config.logLevel)
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
  const departure = new Departure(server)
  server.listen(config.port, config.host)
  await once(server, 'listening')
  // Not before: a start that fails says why, and nothing else.
  for (const warning of config.warnings) log.warn(warning)
  // A connection that could not be accepted is no reason to stop.
  server.on('error', (error) => log.error(loggable(error), 'not accepted'))

  const stopPurging = startPurging(
    [new Throttle(orm), new SessionStore(orm), new ExpiredTokens(orm), new Devices(orm), new Audit(orm, log)],
    log,
  )
  const stop = async (signal: string) => {
    if (lifecycle.isDraining) process.exit(1)
    lifecycle.isDraining = true
    departure.announce()
    log.info({ signal }, 'stopping')
    await sleep(config.drainSeconds * 1000)
    await departure.complete()
    await stopPurging()
    await orm.close()
    log.info('stopped')
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // `npm start` hands a signal to a shell, which ends and leaves us behind.
  if (process.env.npm_lifecycle_event) whenLeftBehind(() => stop('SIGTERM'))
  // Last, so that whoever waits for this line can stop us from then on.
  log.info({ url: urlOf(server, config.host) }, 'listening')
}

function whenLeftBehind(stop: () => void): void {
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    stop()
  }, 500).unref()
}

function urlOf(server: Server, host: string): string {
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : undefined
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Whether the message says all that the operator needs: what is wrong is outside this program. */
function isForOperator(error: unknown): error is Error {
  if (error instanceof ConfigError || error instanceof DatabaseError) return true
  const syscall = error instanceof Error && 'syscall' in error && error.syscall
  return syscall === 'listen' || syscall === 'getaddrinfo'
}
