import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, loggable } from '../log/log.ts'

const minute = 60_000
// A batch is small, and the next one waits for those who wait for the database.
const batch = 500
const pause = 100

/** A store with rows that expire. */
export interface Purgeable {
  /** Deletes at most so many of them, and returns how many. */
  purge(most: number): Promise<number>
}

/** Waits so many milliseconds, or until the signal says that there is no need. */
type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>

/** Once a minute, deletes what is over, in small batches. Returns what stops it. */
export function startPurging(
  stores: readonly Purgeable[],
  log: Logger,
  wait: Wait = waitQuietly,
): () => Promise<void> {
  const stopped = new AbortController()
  const finished = purgeForever(stores, log, wait, stopped.signal)
  return () => {
    stopped.abort()
    return finished
  }
}

async function purgeForever(
  stores: readonly Purgeable[],
  log: Logger,
  wait: Wait,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let isMore = false
    for (const store of stores) {
      if (!signal.aborted && (await purgeOnce(store, log))) isMore = true
    }
    await wait(isMore ? pause : minute, signal)
  }
}

/** Whether there may be more. */
async function purgeOnce(store: Purgeable, log: Logger): Promise<boolean> {
  try {
    return (await store.purge(batch)) === batch
  } catch (error) {
    // The database is away: what is over counts for nobody all the same, and can wait a minute.
    log.warn(loggable(error), 'purging failed')
    return false
  }
}

async function waitQuietly(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(milliseconds, undefined, { ref: false, signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
