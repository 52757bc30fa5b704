import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import packageJson from '../package.json' with { type: 'json' }
import { UsedChallenge } from './account/passkeys/challenges.ts'
import { encryptWithNewestKey } from './account/second-factor/encrypted-keys.ts'
import { StoredPendingSignIn } from './account/second-factor/pending-sign-ins.ts'
import { createServices } from './account/services.ts'
import { createApp } from './app.ts'
import type { Config } from './config/config.ts'
import { developmentUrl } from './config/public-url.ts'
import { expiredRows } from './database/expired-rows.ts'
import { openDatabase } from './database/open-database.ts'
import { startPurging } from './database/purge.ts'
import { startMetrics } from './features/metrics/start-metrics.ts'
import { ProviderFlow } from './features/providers/provider-flow.ts'
import { type defaultLimits, httpServer } from './http/http-server.ts'
import { type Logger, loggable } from './log/log.ts'
import { mails } from './mails.ts'
import { schema } from './schema.ts'
import { trustedProxies } from './site/client-address.ts'
import { OneTimeToken } from './users/one-time-tokens.ts'
import { shareCores } from './users/password.ts'
import { UserToken } from './users/user-token.ts'

const { version } = packageJson

/** Limits other than the usual ones, for tests on a busy machine. */
export interface ServingLimits {
  /** How long a statement may wait for a connection or for a lock, in milliseconds. */
  readonly database?: number
  readonly http?: Partial<typeof defaultLimits>
}

/** Opens the database and listens. */
export async function serve(config: Config, log: Logger, limits: ServingLimits = {}) {
  let migrations: readonly string[] = []
  const orm = await openDatabase(config.databaseUrl, {
    ...schema,
    connections: config.databasePool,
    timeout: limits.database,
    onMigrated: (ran) => {
      migrations = ran
    },
  })
  shareCores(config.workers)
  const site = { isDraining: false }
  const services = createServices(orm, config, log, mails)
  const { outbox, uses } = services
  await encryptWithNewestKey(orm.em.fork(), services.secretBox)
  const app = await createApp({ orm, config, log, services, lifecycle: site })
  const isTrusted = trustedProxies(config.trustProxy)
  const isProxy = (address: string) => isTrusted(address, 0)
  const { server, stop: stopServer } = httpServer(app, { isProxy, limits: limits.http })
  server.listen(config.port, config.host)
  await once(server, 'listening')
  await startMetrics(config, { orm, trail: services.trail }, log)
  // A connection that cannot be accepted must not end the process.
  server.on('error', (error) => log.error(loggable(error), 'connection not accepted'))

  // Logged now, because a failed start prints only its reason.
  log.info({ version, migrations }, 'database ready')

  const url = urlOf(config.host, (server.address() as AddressInfo).port)
  const isDevelopment = config.profile === 'development'
  outbox?.start(config.publicUrl?.origin ?? (isDevelopment ? developmentUrl(url) : url))
  const stopPurging = startPurging(
    [
      services.throttle,
      services.sessions,
      expiredRows(orm, UserToken),
      expiredRows(orm, OneTimeToken),
      expiredRows(orm, UsedChallenge),
      expiredRows(orm, StoredPendingSignIn),
      expiredRows(orm, ProviderFlow),
      services.devices,
      services.trail,
    ],
    log,
  )
  return {
    url,
    /** Stops gracefully: `/readyz` is 503 for `DRAIN_SECONDS`, accepted requests finish, and the database closes. */
    async stop() {
      site.isDraining = true
      await stopServer(config.drainSeconds * 1000)
      await Promise.all([stopPurging(), outbox?.stop()])
      await Promise.all([uses.sessions.write(), uses.tokens.write()])
      await orm.close()
    },
  }
}

/** The URL of the site, with brackets around an IPv6 address. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
