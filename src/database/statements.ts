import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'

/** The statements of a request. Of a look-up that several requests share, only the first request has the statement. */
export interface Statements {
  count: number
  /** In seconds, with the wait for locks. */
  duration: number
}

/** Publishes the duration of each statement in seconds. */
export const statementDone = channel('koa-authenticators:statement')

// Ambient, because MikroORM passes no value to its drivers. Only the log reads it.
const current = new AsyncLocalStorage<Statements>()

/** Runs `work`, and adds its statements to `statements`. */
export function countStatements<Result>(statements: Statements, work: () => Result): Result {
  return current.run(statements, work)
}

/** Runs a statement, and counts it. */
export async function timed<Result>(run: () => Promise<Result>): Promise<Result> {
  const start = performance.now()
  try {
    return await run()
  } finally {
    const duration = (performance.now() - start) / 1000
    statementDone.publish(duration)
    const statements = current.getStore()
    if (statements) {
      statements.count += 1
      statements.duration += duration
    }
  }
}
