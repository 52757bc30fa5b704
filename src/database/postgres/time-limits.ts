import type { EntityManager } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'

// An idle transaction may block other requests, so the server ends it. The site checks a row before it changes it, which needs
// `read committed`.
function settings(timeout: number): Record<string, string> {
  return {
    lock_timeout: `${timeout}`,
    statement_timeout: `${timeout + 250}`,
    idle_in_transaction_session_timeout: `${timeout + 3_000}`,
    default_transaction_isolation: "'read committed'",
  }
}

/**
 * Makes the time limits settings of the role in this database, so that they hold for each new connection, also for one of a pooler. A
 * setting that the operator has made remains. PostgreSQL lets each role change its own settings.
 */
export async function setTimeLimits(em: SqlEntityManager, timeout: number): Promise<void> {
  const [row] = await em.execute<{ database: string; set: string[] | null }[]>(
    `select quote_ident(current_database()) as database,
       (select setconfig from pg_db_role_setting where setrole = current_user::regrole
        and setdatabase = (select oid from pg_database where datname = current_database())) as set`,
  )
  for (const [name, value] of Object.entries(settings(timeout)))
    if (!row?.set?.some((each) => each.startsWith(`${name}=`)))
      await em.execute(`alter role current_user in database ${row?.database} set ${name} = ${value}`)
}

/** Lifts the time limits of requests until the end of the transaction. */
export async function liftTimeLimits(em: EntityManager): Promise<void> {
  for (const name of ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'])
    await (em as SqlEntityManager).execute(`set local ${name} = 0`)
}
