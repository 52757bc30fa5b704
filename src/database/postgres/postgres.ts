import type { EntityMetadata, MikroORM, Options } from '@mikro-orm/core'
import { databaseName } from '../database-url.ts'
import type { DatabaseSettings, Dialect } from '../dialect.ts'
import { errorCode } from '../error-code.ts'
import { type PooledPostgresConnection, PooledPostgresDriver } from './pooled-postgres.ts'

// Unless the operator says otherwise.
const usualConnections = 10
// For a connection of the pool, or for a new one to be made.
const longestWait = 2_000

/** A database on a server, where the operator has made it. */
export function postgres(
  databaseUrl: string,
  { connections = usualConnections }: DatabaseSettings = {},
): Dialect {
  const name = databaseName(databaseUrl)
  const { username, searchParams } = new URL(databaseUrl)
  return {
    options: {
      ...addressOf(databaseUrl),
      driver: PooledPostgresDriver,
      // A name that is misspelt makes no database.
      ensureDatabase: false,
      pool: { max: connections, idleTimeoutMillis: 30_000 },
      driverOptions: {
        application_name: 'koa-authenticators',
        connectionTimeoutMillis: longestWait,
        keepAlive: true,
        ssl: sslOf(searchParams.get('sslmode')),
      },
      discovery: { afterDiscovered: (storage) => compareBytes(storage.getAll().values()) },
    },
    // What is connected by these options is one of ours.
    lockMigrations: (orm: MikroORM) => (orm.em.getConnection() as PooledPostgresConnection).lockMigrations(),
    explain: (error) => explain(errorCode(error), name, decodeURIComponent(username)),
  }
}

function addressOf(databaseUrl: string): Partial<Options> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl)
  return {
    // A socket is a path, and escaped.
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

/** Text is compared byte by byte, as in SQLite, in whatever language the database was made. */
function compareBytes(entities: Iterable<EntityMetadata>): void {
  for (const { props } of entities)
    for (const property of props)
      if (property.columnTypes?.some((type) => /^(varchar|text)\b/.test(type))) property.collation = 'C'
}

function explain(code: string, name: string, user: string): string {
  if (code === '28P01' || code === '28000')
    return `The database ${name} does not let ${user || 'anybody without a name'} in: check the user and the password in DATABASE_URL.`
  if (code === '3D000') return `There is no database ${name}: make it, or correct DATABASE_URL.`
  if (code === '42501')
    return `${user} may not make tables in the database ${name}: give it a user who owns it.`
  // What the server says has a code of five letters and digits; the system has longer ones.
  if (/^[\dA-Z]{5}$/.test(code)) return `The database ${name} cannot be used: ${code}.`
  return `The server of the database ${name} cannot be reached: ${code}.`
}
