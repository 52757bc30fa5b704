import { type AbstractSqlConnection, MikroORM } from '@mikro-orm/sqlite'

/** A connection to a PostgreSQL server. It closes when the process exits. */
export async function connectTo(databaseUrl: string): Promise<AbstractSqlConnection> {
  const { postgres } = await import('../database/postgres/postgres.ts')
  const { options } = postgres(databaseUrl)
  const orm = await MikroORM.init({
    ...options,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    pool: { max: 1 },
    driverOptions: {
      ...Object(options.driverOptions),
      ...{ allowExitOnIdle: true, idleTimeoutMillis: 0, connectionTimeoutMillis: 0, query_timeout: 0 },
    },
    debug: false,
  } as object)
  // MikroORM's PostgreSQL connection is an SQL connection.
  const connection = orm.em.getConnection() as AbstractSqlConnection
  // The site has made time limits settings of the role.
  await connection.execute(
    'set lock_timeout = 0; set statement_timeout = 0; set idle_in_transaction_session_timeout = 0',
  )
  return connection
}
