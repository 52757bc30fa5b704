import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import { deleteBatch } from '../database/delete-batch.ts'
import { clockSkew } from '../durations.ts'
import { type Action, longestWindow, type Outcome, rules } from './allowance.ts'
import { AttemptCount } from './attempt-count.ts'
import { type Counter, countersOf, prefixOf } from './counter.ts'
import { reserve, settle } from './counts.ts'
import { blockOf, networkOf } from './network.ts'
import { Places } from './places.ts'
import { TaskQueue } from './task-queue.ts'
import { tooMany } from './too-many.ts'

// How long an attempt waits for a reservation, the pause between retries, and `Retry-After` of a busy throttle. In milliseconds.
const longestWait = 5_000
const pause = 50
const busy = 5_000
/** Above this number of rows, new counters share rows. */
export const maxRows = 1_000_000

/** An attempt at an action, by account, network and device. */
export interface Attempt {
  readonly action: Action
  /** Identifies the account or the e-mail address, whether an account exists or not. May be empty if the action counts by network only. */
  readonly account: string
  /** The IP address of the client. */
  readonly address: string
  /** A device from which the account has signed in before. Some actions have separate allowances for it. */
  readonly device?: string | undefined
}

/**
 * Limits attempts by account, network and device. The counts are in the database, so that processes share them and a restart keeps
 * them.
 */
export class Throttle {
  readonly #orm: MikroORM
  readonly #now: () => number
  readonly #maxRows: number
  readonly #waiting = new Places()
  readonly #reservations = new TaskQueue()
  #isFull = false

  /** @param limit the number of rows above which new counters share rows */
  constructor(orm: MikroORM, now = Date.now, limit = maxRows) {
    this.#orm = orm
    this.#now = now
    this.#maxRows = limit
  }

  /**
   * Evaluates an attempt within its allowances. The attempt is reserved first, so that concurrent attempts count like
   * successive ones. If running evaluations hold all reservations, the attempt waits for up to five seconds.
   * @returns the result of `evaluate`; `undefined` counts as a failure
   * @throws {TryLater} 429, if an allowance is used up, the wait times out, or too many attempts wait
   */
  async attempt<Result>(
    attempt: Attempt,
    evaluate: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const counters = await this.#reserve(attempt)
    // Stays undefined if the evaluation throws, for example because the database is unavailable.
    let outcome: Outcome | undefined
    try {
      const result = await evaluate()
      outcome = result === undefined ? 'failure' : 'success'
      return result
    } finally {
      await settle(this.#orm, counters, outcome)
    }
  }

  /**
   * Counts an action in the transaction of `em`. A rollback undoes the count.
   * @returns `false`, and counts nothing, if an allowance is used up
   */
  async countIn(em: EntityManager, attempt: Pick<Attempt, 'action' | 'account'>): Promise<boolean> {
    const counters = this.#countersOf({ ...attempt, address: '' })
    const transaction = em.getTransactionContext()
    if (await reserve(this.#orm, counters, this.#now(), transaction)) return false
    await settle(this.#orm, counters, 'success', transaction)
    return true
  }

  /** Deletes a batch of counts that have expired or are in the future, and returns their number. After the last batch, checks the size of the table. */
  async purge(limit = 500): Promise<number> {
    const now = this.#now()
    const em = this.#orm.em.fork()
    const inFuture = { expiresAt: { $gt: now + longestWindow + clockSkew } }
    const deleted = await deleteBatch(em, AttemptCount, [{ expiresAt: { $lte: now } }, inFuture], limit)
    if (deleted < limit) this.#isFull = (await em.count(AttemptCount)) >= this.#maxRows
    return deleted
  }

  async #reserve(attempt: Attempt): Promise<readonly Counter[]> {
    using place = this.#waiting.take(Object.fromEntries(this.#countersOf(attempt).map(waitingLimit)))
    if (!place) throw tooMany(busy)
    for (const until = performance.now() + longestWait; ; ) {
      const counters = this.#countersOf(attempt)
      // Without the queue, attempts that wait for a lock of PostgreSQL could occupy every connection of the pool.
      const refused = await this.#reservations.run(() => reserve(this.#orm, counters, this.#now()))
      if (!refused) return counters
      if (refused.wait > 0) throw tooMany(refused.wait, refused.allowance, this.#now())
      if (performance.now() >= until) throw tooMany(busy)
      await sleep(pause)
    }
  }

  #countersOf({ action, account, device, address }: Attempt): readonly Counter[] {
    const { allowances, fromDevice = allowances } = rules[action]
    const values = { account, device, network: networkOf(address), block: blockOf(address) }
    const counted = { action, values, allowances: device === undefined ? allowances : fromDevice }
    return countersOf(counted, { now: this.#now(), isFull: this.#isFull })
  }
}

// Attempts that wait for one counter, so that a flood does not block the database. A counter by account has a lower limit, so that a
// flood at one account leaves room for the others of its network.
function waitingLimit({ allowance, names: [name] }: Counter): [string, number] {
  return [name, allowance.by.includes('account') ? 100 : 200]
}

/** Resets the limits on guessing the password of an account, for example after a password reset. */
export async function resetAttempts(em: EntityManager, account: string): Promise<void> {
  const prefix = prefixOf(account)
  await em.nativeDelete(AttemptCount, { id: { $gte: prefix, $lt: `${prefix}~` } })
}
