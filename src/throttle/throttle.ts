import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import { Refusal } from '../refusal.ts'
import { type Action, type Outcome, rules } from './allowance.ts'
import { AttemptCount } from './attempt-count.ts'
import type { Place, Wanted } from './counter-rows.ts'
import { Counters, deleteCounts } from './counters.ts'
import { keyOf } from './key.ts'
import { NetworkLimit } from './network-limit.ts'
import { PendingLimit } from './pending-limit.ts'
import { TableLimit } from './table-limit.ts'
import { tooMany } from './too-many.ts'

// How long an attempt waits for running ones, how often it tries, and when it may come back. In milliseconds.
const longestWait = 5_000
const pause = 50
const busy = 5_000
// At about 200 bytes each with their indexes.
const usualMostRows = 1_000_000

/** An attempt, and the values that its allowances are counted by. */
export interface Try {
  readonly action: Action
  /** The account that it concerns, whether that exists or not. */
  readonly account: string
  /** The address that it comes from. */
  readonly address: string
  /** A device that this account has signed in from. It has allowances of its own, which strangers cannot use up. */
  readonly device?: string | undefined
  /** Whether the client has closed the connection. */
  readonly hasLeft?: () => boolean
}

/**
 * Limits attempts by account, network and device, in the application's database. Knows nothing of users: an account is
 * any text.
 */
export class Throttle {
  readonly #counters: Counters
  readonly #table: TableLimit
  readonly #lookUps = new NetworkLimit(50)
  readonly #pending = new PendingLimit()

  /**
   * @param now the clock, in milliseconds
   * @param mostRows how many rows strangers can make it write; beyond them it refuses attempts from unknown devices
   */
  constructor(orm: MikroORM, now = Date.now, mostRows = usualMostRows) {
    this.#counters = new Counters(orm, now)
    this.#table = new TableLimit(() => orm.em.fork().count(AttemptCount), mostRows)
  }

  /**
   * Evaluates an attempt if its allowances have a place for it. The place is taken before the evaluation, so that attempts
   * sent at once count like attempts sent one by one. If running evaluations have all places, it waits for five seconds.
   *
   * @returns what `evaluate` returns; `undefined` is a failure
   * @throws {TryLater} 429, if an allowance is used up, or busy for too long
   * @throws {Refusal} 400, if the client has left while it waited
   */
  async attempt<Result>(
    attempt: Try,
    evaluate: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const place = await this.#takePlace(attempt)
    // An evaluation that throws decides nothing, because the database is away, for example.
    let outcome: Outcome | undefined
    try {
      const result = await evaluate()
      outcome = result === undefined ? 'failure' : 'success'
      return result
    } finally {
      await this.#counters.leave(place, outcome)
    }
  }

  /**
   * Counts a look-up that costs no work, such as whether an address is taken. The count is in the memory of this process,
   * because a row would cost more than the look-up.
   *
   * @throws {TryLater} 429, after 50 from a network in a quarter of an hour
   */
  countLookUp(address: string): void {
    this.#lookUps.count(address)
  }

  /** Deletes a batch of counts that are over. Returns how many there were. */
  async purge(most = 500): Promise<number> {
    const deleted = await this.#counters.purge(most)
    if (deleted > 0) this.#table.reset()
    return deleted
  }

  async #takePlace(attempt: Try): Promise<Place> {
    const wanted = wantedBy(attempt)
    const isStranger = wanted.allowances.some(({ by }) => by.includes('network'))
    if (isStranger && (await this.#table.isFull())) throw tooMany(busy)
    const { account, network, device } = wanted.key
    const leave = this.#pending.enter(`${account} ${device ?? network}`, { isKnownDevice: device !== null })
    if (!leave) throw tooMany(busy)
    try {
      return await this.#wait(wanted, attempt)
    } finally {
      leave()
    }
  }

  async #wait(wanted: Wanted, { hasLeft = () => false }: Try): Promise<Place> {
    for (const until = performance.now() + longestWait; ; ) {
      const place = await this.#counters.take(wanted)
      if (place) return place
      const shortage = await this.#counters.shortage(wanted)
      if (shortage > 0) throw tooMany(shortage)
      if (performance.now() >= until) throw tooMany(busy)
      await sleep(pause)
      if (hasLeft()) throw new Refusal(400, 'The connection was closed while this request waited.')
    }
  }
}

/** Gives an account its allowances for an action back, because its password has changed. */
export function forgetAttempts(
  em: EntityManager,
  { action, account }: Pick<Try, 'action' | 'account'>,
): Promise<void> {
  const allowances = rules[action].allowances.filter(({ by }) => by.length === 1 && by[0] === 'account')
  return deleteCounts(em, { action, key: keyOf({ account, address: '' }), allowances })
}

function wantedBy(attempt: Try): Wanted {
  const { allowances, fromDevice } = rules[attempt.action]
  const key = keyOf(attempt)
  return { action: attempt.action, key, allowances: key.device === null ? allowances : fromDevice }
}
