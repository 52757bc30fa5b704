import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, loggable } from './log.ts'

const minute = 60_000
// A batch is small, and the next one waits for those who wait for the database.
const batch = 500
const pause = 100

/** Something that keeps rows which are over sooner or later. */
export interface Purgeable {
  /** Deletes at most so many of them, and returns how many. */
  purge(most: number): Promise<number>
}

/** Once a minute, deletes what is over, in small batches. Returns what stops it. */
export function startPurging(stores: readonly Purgeable[], log: Logger): () => Promise<void> {
  const stopped = new AbortController()
  const finished = purgeForever(stores, log, stopped.signal)
  return () => {
    stopped.abort()
    return finished
  }
}

async function purgeForever(stores: readonly Purgeable[], log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const isMore = await purgeOnce(stores, log)
    await Promise.race([sleep(isMore ? pause : minute, undefined, { ref: false }), aborted(signal)])
  }
}

async function purgeOnce(stores: readonly Purgeable[], log: Logger): Promise<boolean> {
  try {
    const counts = await Promise.all(stores.map((store) => store.purge(batch)))
    return counts.some((count) => count === batch)
  } catch (error) {
    // The database is away: what is over counts for nobody all the same, and can wait a minute.
    log.warn(loggable(error), 'purging failed')
    return false
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
