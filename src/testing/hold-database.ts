import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { isPostgres } from '../database/is-postgres.ts'
import { inWordsOf } from './database.ts'
import { recordStatements } from './record-statements.ts'
import type { Site } from './site.ts'

/**
 * Writes to the database as another process would, for as long as the test wants: the site goes on reading what was there
 * before, and waits for two seconds at most where it writes itself.
 */
export async function holdDatabase(t: TestContext, site: Site) {
  const statements = await recordStatements(t, site.orm)
  const other = isPostgres(site.orm.em) ? await holdTables(site) : holdFile(t, site)
  return {
    /** Waits until the site has asked for something. */
    async isAsked(what: RegExp): Promise<void> {
      while (!statements.some((each) => what.test(each))) await setImmediate()
    },
    /** Writes something, and lets the site go on. */
    release: (statement: string, ...values: unknown[]): Promise<void> => other.release(statement, values),
  }
}

interface Other {
  release(statement: string, values: unknown[]): Promise<void>
}

function holdFile(t: TestContext, { config }: Site): Other {
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

async function holdTables({ orm }: Site): Promise<Other> {
  // The driver's own client, which MikroORM's widest type does not know.
  const pool = (await orm.em.getConnection().getNativeClient()) as unknown as Pool
  const other = await pool.connect()
  await other.query('begin')
  await other.query('lock table users, sessions, user_tokens, devices, events, attempts in exclusive mode')
  return {
    async release(statement, values) {
      await other.query(inWordsOf(orm, statement, values))
      await other.query('commit')
      other.release()
    },
  }
}
