import { setTimeout as sleep } from 'node:timers/promises'
import type { Configuration } from '@mikro-orm/core'
import { AbstractSqlDriver, SqliteConnection, SqlitePlatform } from '@mikro-orm/sqlite'

// The driver is synchronous: while SQLite waits for a lock, every other request waits too.
const blockingWait = 20
const patience = 2000

/** MikroORM's SQLite driver, which waits for a busy database without blocking the event loop. */
export class PatientSqliteDriver extends AbstractSqlDriver {
  constructor(config: Configuration) {
    super(config, new SqlitePlatform(), PatientSqliteConnection, ['kysely', 'better-sqlite3'])
  }
}

class PatientSqliteConnection extends SqliteConnection {
  override async connect(options?: { skipOnConnect?: boolean }): Promise<void> {
    await super.connect(options)
    await this.execute(`pragma busy_timeout = ${blockingWait}`)
    await this.execute('pragma journal_mode = wal')
    await this.execute('pragma synchronous = normal')
  }

  protected override async executeQuery<Result>(
    query: string,
    run: () => Promise<Result>,
    context?: object,
  ): Promise<Result> {
    return retryWhileBusy(() => super.executeQuery(query, run, context))
  }
}

/** Tries again for two seconds while another connection holds the lock; then the error stands. */
export async function retryWhileBusy<Result>(run: () => Result | Promise<Result>): Promise<Result> {
  for (const deadline = Date.now() + patience; ; ) {
    try {
      return await run()
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error
      await sleep(10 + Math.random() * 20)
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY'
}
