import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { recordStatements } from '../auth/testing/record-statements.ts'
import type { Site } from './site.ts'

/**
 * Writes to the database as another process would, for as long as the test wants: the site goes on reading what was there
 * before, and waits for two seconds at most where it writes itself.
 */
export async function holdDatabase(t: TestContext, { orm, config }: Site) {
  const statements = await recordStatements(t, orm)
  const other = new Database(join(config.dataDir, 'site.sqlite'))
  t.after(() => void other.close())
  other.exec('begin immediate')
  return {
    /** Waits until the site has asked for something. */
    async isAsked(what: RegExp): Promise<void> {
      while (!statements.some((each) => what.test(each))) await setImmediate()
    },
    /** Writes something, and lets the site go on. */
    release(statement: string, ...values: unknown[]): void {
      other.prepare(statement).run(values)
      other.exec('commit')
    },
  }
}
