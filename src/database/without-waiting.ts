import { AsyncLocalStorage } from 'node:async_hooks'

const inAHurry = new AsyncLocalStorage<boolean>()

/**
 * Does what can as well be left undone, the end of a session that is over, say: while somebody else has all of the
 * database, which only happens with SQLite, it fails at once.
 */
export function withoutWaiting<Result>(work: () => Promise<Result>): Promise<Result> {
  return inAHurry.run(true, work)
}

/** Whether whoever asks would rather fail than wait. */
export function isInAHurry(): boolean {
  return inAHurry.getStore() ?? false
}
