import { channel } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { minute } from '../durations.ts'
import { type Logger, loggable } from '../log/log.ts'

// Small batches and pauses, so that requests do not wait long for the database.
const batch = 500
const pause = 100
// The first batches would delay the first requests after a start.
const firstWait = 1_000

/** Publishes how many stores had more expired rows than a batch, after each batch. */
export const purgeRound = channel('koa-authenticators:purge')

/** A store with rows that expire. */
export interface Purgeable {
  /** Deletes up to `limit` expired rows and returns their number. */
  purge(limit: number): Promise<number>
}

/** Waits for a number of milliseconds, or until the signal aborts. */
type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>

/** Deletes expired rows a second after the start and then once a minute, in small batches. Returns a function that stops after the current batch. */
export function startPurging(
  stores: readonly Purgeable[],
  log: Logger,
  wait: Wait = waitUnlessAborted,
): () => Promise<void> {
  const stopped = new AbortController()
  const { signal } = stopped
  const purgeForever = async () => {
    let due = stores
    await wait(firstWait, signal)
    while (!signal.aborted) {
      const full: Purgeable[] = []
      for (const store of due) if (!signal.aborted && (await purgeOnce(store, log))) full.push(store)
      purgeRound.publish(full.length)
      await wait(full.length > 0 ? pause : minute, signal)
      due = full.length > 0 ? full : stores
    }
  }
  const finished = purgeForever()
  return () => {
    stopped.abort()
    return finished
  }
}

/** Purges one batch. Returns whether the batch was full. If so, there may be more expired rows. */
async function purgeOnce(store: Purgeable, log: Logger): Promise<boolean> {
  try {
    return (await store.purge(batch)) === batch
  } catch (error) {
    // Only a warning, because no request uses expired rows. The next purge deletes them.
    log.warn(loggable(error), 'purging failed')
    return false
  }
}

async function waitUnlessAborted(milliseconds: number, signal: AbortSignal): Promise<void> {
  // `sleep` rejects only when the signal aborts.
  await sleep(milliseconds, undefined, { ref: false, signal }).catch(() => {})
}
