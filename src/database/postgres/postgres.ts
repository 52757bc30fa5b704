import type { EntityMetadata, Options } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { DatabaseError, errorCode } from '../database-error.ts'
import { type Dialect, type PoolOptions, usualTimeout } from '../database-options.ts'
import { databaseName } from '../database-url.ts'
import { PooledPostgresDriver } from './postgres-driver.ts'
import { liftTimeLimits, queryTimeout, setTimeLimits } from './time-limits.ts'

// Long, because several processes may start at the same time and migrate one after another. In milliseconds.
const migrationTimeout = 8_000
// An arbitrary key, which must be the same in all versions.
const migrationLock = 4_115_417_190_612

/** The dialect of an existing PostgreSQL database. */
export function postgres(
  databaseUrl: string,
  { connections = 10, timeout = usualTimeout }: PoolOptions = {},
): Dialect {
  const name = databaseName(databaseUrl)
  const { username, searchParams } = new URL(databaseUrl)
  const driverOptions = {
    application_name: 'koa-authenticators',
    connectionTimeoutMillis: timeout,
    keepAlive: true,
    ssl: sslOf(searchParams.get('sslmode')),
  }
  const common: Partial<Options> = {
    ...addressOf(databaseUrl),
    driver: PooledPostgresDriver,
    // A misspelt name must not create a database.
    ensureDatabase: false,
    discovery: { afterDiscovered: (storage) => compareBytes(storage.getAll().values()) },
  }
  return {
    options: {
      ...common,
      pool: { max: connections, idleTimeoutMillis: 30_000 },
      driverOptions: { ...driverOptions, query_timeout: queryTimeout(timeout) },
    },
    // The migrator needs a second connection for a moment.
    unlimitedOptions: { ...common, pool: { max: 2 }, driverOptions },
    liftTimeLimits,
    lockMigrations: (em) => lockMigrations(em as SqlEntityManager, name),
    setTimeLimits: (em) => setTimeLimits(em, timeout),
    explain: (error) => explain(errorCode(error), name, decodeURIComponent(username)),
  }
}

// The lock belongs to the transaction, so that it works behind a pooler and ends with a lost connection.
async function lockMigrations(em: SqlEntityManager, name: string): Promise<void> {
  await liftTimeLimits(em)
  const [mode] = await em.execute<{ readonly: string }[]>(
    "select current_setting('transaction_read_only') as readonly",
  )
  if (mode?.readonly !== 'off') throw new DatabaseError(readOnly(name))
  await em.execute(`set local lock_timeout = ${migrationTimeout}`)
  try {
    await em.execute(`select pg_advisory_xact_lock(${migrationLock})`)
  } catch (cause) {
    if (errorCode(cause) !== '55P03') throw cause
    throw new DatabaseError('Another process is still migrating the database. Start again later.', { cause })
  }
  await em.execute('set local lock_timeout = 0')
}

function addressOf(databaseUrl: string): Partial<Options> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl)
  return {
    // In the URL of a Unix socket, the host is an escaped path.
    host: decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 5432 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    dbName: decodeURIComponent(pathname.slice(1)),
  }
}

function sslOf(mode: string | null): false | { rejectUnauthorized: boolean } {
  if (mode === null || mode === 'disable') return false
  return { rejectUnauthorized: mode !== 'no-verify' }
}

// Compares text byte by byte as SQLite does, independent of the collation of the database.
function compareBytes(entities: Iterable<EntityMetadata>): void {
  for (const { props } of entities)
    for (const property of props)
      if (property.columnTypes?.some((type) => /^(varchar|text)\b/.test(type))) property.collation = 'C'
}

function explain(code: string, name: string, user: string): string {
  if (code === '28P01' || code === '28000')
    return `The database ${name} rejects the user ${user || '(none)'}. Check the user and the password in DATABASE_URL.`
  if (code === '3D000') return `The database ${name} does not exist. Create it, or correct DATABASE_URL.`
  if (code === '42501')
    return `The user ${user} cannot create tables in the database ${name}. Use the owner of the database.`
  if (code === '25006') return readOnly(name)
  if (code === '08P01')
    return `The pooler in front of the database ${name} allows no transactions. Use its transaction mode or its session mode.`
  // PostgreSQL's error codes have five characters. Error codes of the operating system begin with E.
  if (/^(?!E)[\dA-Z]{5}$/.test(code)) return `The database ${name} cannot be used: ${code}.`
  return `The server of the database ${name} cannot be reached: ${code}. Start it, or correct DATABASE_URL.`
}

function readOnly(name: string): string {
  return `The database ${name} is read-only, for example because its server is a standby. Use the primary in DATABASE_URL.`
}
