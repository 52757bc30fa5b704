import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { isPostgres } from '../database/is-postgres.ts'
import { toPostgres } from './database.ts'
import { recordStatements } from './record-statements.ts'
import type { Site } from './site.ts'

/**
 * Locks the database against writes, like a long transaction of another process. On PostgreSQL, locks only some tables. The
 * site can still read, and waits for up to two seconds to write.
 */
export async function lockDatabase(t: TestContext, site: Site) {
  const statements = await recordStatements(t, site.orm)
  const other = isPostgres(site.orm.em) ? await lockTables(site) : lockFile(t, site)
  return {
    /** Waits until the site has sent a statement. */
    async waitForStatement(pattern: RegExp): Promise<void> {
      while (!statements.some((each) => pattern.test(each))) await setImmediate()
    },
    /** Runs a statement and commits, which releases the locks. */
    release: (statement: string, ...values: unknown[]): Promise<void> => other.release(statement, values),
  }
}

interface Transaction {
  release(statement: string, values: unknown[]): Promise<void>
}

function lockFile(t: TestContext, { config }: Site): Transaction {
  const other = new Database(join(config.dataDir, 'site.sqlite'))
  t.after(() => void other.close())
  other.exec('begin immediate')
  return {
    async release(statement, values) {
      other.prepare(statement).run(values)
      other.exec('commit')
    },
  }
}

interface Pool {
  connect(): Promise<{ query(text: string): Promise<unknown>; release(): void }>
}

async function lockTables({ orm }: Site): Promise<Transaction> {
  // The client of the driver. MikroORM has no type for it.
  const pool = (await orm.em.getConnection().getNativeClient()) as unknown as Pool
  const other = await pool.connect()
  await other.query('begin')
  await other.query(
    'lock table users, sessions, user_tokens, devices, events, attempts, totp_factors, provider_flows in exclusive mode',
  )
  return {
    async release(statement, values) {
      await other.query(toPostgres(orm, statement, values))
      await other.query('commit')
      other.release()
    },
  }
}
