import type { Options } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { type Dialect, migrationTimeout, type PoolOptions, usualTimeout } from '../database-options.ts'
import { PooledPostgresDriver } from './postgres-driver.ts'
import { liftTimeLimits, setTimeLimits } from './time-limits.ts'

// An arbitrary key, which must be the same in all versions.
const migrationLock = 4_115_417_190_612

/** The dialect of an existing PostgreSQL database. */
export function postgres(
  databaseUrl: string,
  { connections = 10, timeout = usualTimeout }: PoolOptions = {},
): Dialect {
  const { hostname, searchParams } = new URL(databaseUrl)
  const driverOptions = {
    application_name: 'koa-authenticators',
    connectionTimeoutMillis: timeout,
    keepAlive: true,
    ssl: sslOf(searchParams.get('sslmode')),
  }
  const common: Partial<Options> = {
    clientUrl: databaseUrl,
    // In the URL of a Unix socket, the host is an escaped path.
    host: decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1'),
    driver: PooledPostgresDriver,
    // A misspelt name must not create a database.
    ensureDatabase: false,
  }
  return {
    options: {
      ...common,
      pool: { max: connections, idleTimeoutMillis: 30_000 },
      // Longer than `statement_timeout`, so that the server reports the timeout if it can.
      driverOptions: { ...driverOptions, query_timeout: timeout + 500 },
    },
    // The migrator needs a second connection for a moment.
    unlimitedOptions: { ...common, pool: { max: 2 }, driverOptions },
    liftTimeLimits,
    async prepareMigrations(em) {
      await lockMigrations(em as SqlEntityManager, Math.max(timeout, migrationTimeout))
      await setTimeLimits(em as SqlEntityManager, timeout)
    },
  }
}

// The lock belongs to the transaction, so that it works behind a pooler and ends with a lost connection.
async function lockMigrations(em: SqlEntityManager, timeout: number): Promise<void> {
  await liftTimeLimits(em)
  const readOnly = "select 1 where current_setting('transaction_read_only') <> 'off'"
  if ((await em.execute<object[]>(readOnly)).length > 0) throw Object.assign(new Error(), { code: '25006' })
  await em.execute(`set local lock_timeout = ${timeout}`)
  await em.execute(`select pg_advisory_xact_lock(${migrationLock})`)
  await em.execute('set local lock_timeout = 0')
}

function sslOf(mode: string | null): false | { rejectUnauthorized: boolean } {
  if (mode === null || mode === 'disable') return false
  return { rejectUnauthorized: mode !== 'no-verify' }
}
