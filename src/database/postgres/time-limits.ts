import type { EntityManager } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { errorCode } from '../database-error.ts'

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
 * setting that the operator has made remains. Returns the statements that the role may not run. Call it in a transaction.
 */
export async function setTimeLimits(em: EntityManager, timeout: number): Promise<string[]> {
  const [row] = await (em as SqlEntityManager).execute<
    { role: string; database: string; set: string[] | null }[]
  >(
    `select quote_ident(current_user) as role, quote_ident(current_database()) as database,
       (select setconfig from pg_db_role_setting where setrole = current_user::regrole
        and setdatabase = (select oid from pg_database where datname = current_database())) as set`,
  )
  const isSet = (name: string) => row?.set?.some((each) => each.startsWith(`${name}=`))
  const refused: string[] = []
  for (const [name, value] of Object.entries(settings(timeout))) {
    if (isSet(name)) continue
    const statement = `alter role ${row?.role} in database ${row?.database} set ${name} = ${value}`
    try {
      // A savepoint, because an error would end the transaction.
      await em.transactional((em) => (em as SqlEntityManager).execute(statement))
    } catch (error) {
      if (errorCode(error) !== '42501') throw error
      refused.push(statement)
    }
  }
  return refused
}

/** Lifts the time limits of requests until the end of the transaction. */
export async function liftTimeLimits(em: EntityManager): Promise<void> {
  for (const name of ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'])
    await (em as SqlEntityManager).execute(`set local ${name} = 0`)
}
