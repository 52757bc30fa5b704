import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import { Refusal } from '../refusal.ts'
import { type Action, type Outcome, rules } from './allowance.ts'
import { AttemptCount, type Quota } from './counter-rows.ts'
import { Counters, type Reservation } from './counters.ts'
import { counterOf, isByAccount, keyOf } from './key.ts'
import { NetworkLimit } from './network-limit.ts'
import { PendingLimit } from './pending-limit.ts'
import { TableLimit } from './table-limit.ts'
import { tooMany } from './too-many.ts'

// How long an attempt waits for a reservation, the pause between retries, and `Retry-After` of a busy throttle. In milliseconds.
const longestWait = 5_000
const pause = 50
const busy = 5_000

/** An attempt at an action, by account, network and device. */
export interface Attempt {
  readonly action: Action
  /** Identifies the account or the e-mail address, whether an account exists or not. May be empty if the action counts by network only. */
  readonly account: string
  /** The IP address of the client. */
  readonly address: string
  /** A device from which the account has signed in before. Some actions have separate allowances for it. */
  readonly device?: string | undefined
  /** Whether the client has closed the connection. */
  readonly isDisconnected?: () => boolean
}

/** Limits attempts by account, network and device. Except for `countLookUp`, the counts are in the database. */
export class Throttle {
  readonly #counters: Counters
  readonly #now: () => number
  readonly #table: TableLimit
  readonly #lookUps = new NetworkLimit(50)
  readonly #pending = new PendingLimit()

  /** @param maxRows the maximum number of rows, at 200 bytes each. A full table rejects attempts that are counted by network */
  constructor(orm: MikroORM, now = Date.now, maxRows = 1_000_000) {
    this.#counters = new Counters(orm, now)
    this.#now = now
    this.#table = new TableLimit(() => orm.em.fork().count(AttemptCount), maxRows)
  }

  /**
   * Evaluates an attempt within its allowances. The attempt is reserved first, so that concurrent attempts count like
   * successive ones. If running evaluations hold all reservations, the attempt waits for up to five seconds.
   * @returns the result of `evaluate`; `undefined` counts as a failure
   * @throws {TryLater} 429, if an allowance is used up, the wait times out, too many attempts wait, or the table is full
   * @throws {Refusal} 400, if the client closes the connection while the attempt waits
   */
  async attempt<Result>(
    attempt: Attempt,
    evaluate: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const reservation = await this.#reserve(attempt)
    // Stays undefined if the evaluation throws, for example because the database is unavailable.
    let outcome: Outcome | undefined
    try {
      const result = await evaluate()
      outcome = result === undefined ? 'failure' : 'success'
      return result
    } finally {
      await this.#counters.settle(reservation, outcome)
    }
  }

  /**
   * Counts a cheap look-up, such as whether an e-mail address is already in use, in the memory of this process.
   * @throws {TryLater} 429, after 50 from a network in 15 minutes
   */
  countLookUp(address: string): void {
    this.#lookUps.count(address)
  }

  /** Deletes a batch of counts that have expired or are in the future. Returns their number. */
  async purge(limit = 500): Promise<number> {
    const deleted = await this.#counters.purge(limit)
    if (deleted > 0) this.#table.reset()
    return deleted
  }

  async #reserve(attempt: Attempt): Promise<Reservation> {
    const { action } = attempt
    const { allowances, fromDevice = allowances } = rules[action]
    const key = keyOf(attempt.account, attempt.address, attempt.device)
    const isKnownDevice = key.device !== null
    const quota = { action, key, allowances: isKnownDevice ? fromDevice : allowances }
    const isByNetwork = quota.allowances.some(({ by }) => by.includes('network'))
    if (isByNetwork && (await this.#table.isFull())) throw tooMany(busy)
    const leave = this.#pending.enter(`${key.account} ${key.device ?? key.network}`, { isKnownDevice })
    if (!leave) throw tooMany(busy)
    try {
      return await this.#retry(quota, attempt)
    } finally {
      leave()
    }
  }

  async #retry(quota: Quota, { isDisconnected = () => false }: Attempt): Promise<Reservation> {
    for (const until = performance.now() + longestWait; ; ) {
      const reservation = await this.#counters.reserve(quota)
      if (reservation) return reservation
      const { allowance, wait } = await this.#counters.usedUp(quota)
      if (wait > 0) throw tooMany(wait, allowance, this.#now())
      if (performance.now() >= until) throw tooMany(busy)
      await sleep(pause)
      if (isDisconnected()) throw new Refusal(400, 'The connection was closed while this request waited.')
    }
  }
}

/** Resets the allowances of an account, for example after a password reset. */
export async function resetAttempts(
  em: EntityManager,
  { action, account }: Pick<Attempt, 'action' | 'account'>,
): Promise<void> {
  const key = keyOf(account, '')
  const allowances = rules[action].allowances.filter(isByAccount)
  const counters = allowances.map((allowance) => counterOf(action, allowance, key))
  await em.nativeDelete(AttemptCount, { $or: [{ account: key.account }, { counter: { $in: counters } }] })
}
