import type { EntityMetadata, MikroORM, Options } from '@mikro-orm/core'
import { errorCode } from '../database-error.ts'
import type { Dialect } from '../database-options.ts'
import { databaseName } from '../database-url.ts'
import { type PooledPostgresConnection, PooledPostgresDriver } from './postgres-driver.ts'

// Milliseconds to wait for a free connection of the pool, or for a new connection.
const connectionTimeout = 2_000

/** The dialect of an existing PostgreSQL database. */
export function postgres(databaseUrl: string, connections = 10): Dialect {
  const name = databaseName(databaseUrl)
  const { username, searchParams } = new URL(databaseUrl)
  return {
    options: {
      ...addressOf(databaseUrl),
      driver: PooledPostgresDriver,
      // A misspelt name must not create a database.
      ensureDatabase: false,
      pool: { max: connections, idleTimeoutMillis: 30_000 },
      driverOptions: {
        application_name: 'koa-authenticators',
        connectionTimeoutMillis: connectionTimeout,
        keepAlive: true,
        ssl: sslOf(searchParams.get('sslmode')),
      },
      discovery: { afterDiscovered: (storage) => compareBytes(storage.getAll().values()) },
    },
    // The driver in these options always makes a PooledPostgresConnection.
    lockMigrations: (orm: MikroORM) => (orm.em.getConnection() as PooledPostgresConnection).lockMigrations(),
    explain: (error) => explain(errorCode(error), name, decodeURIComponent(username)),
  }
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
  // PostgreSQL's error codes have five characters. Error codes of the operating system begin with E.
  if (/^(?!E)[\dA-Z]{5}$/.test(code)) return `The database ${name} cannot be used: ${code}.`
  return `The server of the database ${name} cannot be reached: ${code}. Start it, or correct DATABASE_URL.`
}
