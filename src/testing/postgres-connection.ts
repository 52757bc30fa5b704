import { type AbstractSqlConnection, MikroORM } from '@mikro-orm/sqlite'

/** One connection to a PostgreSQL, beside every site. Nobody has to close it. */
export async function connectTo(databaseUrl: string): Promise<AbstractSqlConnection> {
  const { postgres } = await import('../database/postgres/postgres.ts')
  const { options } = postgres(databaseUrl)
  const orm = await MikroORM.init({
    ...options,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    pool: { max: 1 },
    driverOptions: { ...Object(options.driverOptions), allowExitOnIdle: true, idleTimeoutMillis: 0 },
    debug: false,
  } as object)
  // Both drivers speak SQL.
  return orm.em.getConnection() as AbstractSqlConnection
}
