import type { EntityManager, MikroORM } from '@mikro-orm/core'
import { TryLater } from '../refusal.ts'
import { type Action, rules } from './allowance.ts'
import { Attempt } from './attempt.ts'
import { digestOf, keyOf } from './key.ts'
import { Places, type Wanted } from './places.ts'
import { WaitingLines } from './waiting-lines.ts'

// Leaves time for the hash, and the answer, before the connection is cut.
const longestWait = 10_000

/** What is attempted, and by whom: the parts that the allowances are counted by. */
export interface Try {
  readonly action: Action
  /** Whom it is about: an account that exists or not, alike. */
  readonly account: string
  /** The address that it comes from. */
  readonly address: string
  /** A device that this account has signed in from before. It has an allowance of its own, which strangers cannot use up. */
  readonly device?: string | undefined
  /** Whether whoever sent it has gone, and need not wait for a place. */
  readonly hasLeft?: () => boolean
}

/**
 * Allowances for what people may guess at, counted in the application's database, so that all its processes share them
 * and a restart gives nobody a fresh one. Knows nothing of users: an account is any text.
 */
export class Throttle {
  readonly #places: Places
  readonly #lines = new WaitingLines()

  constructor(orm: MikroORM, now = Date.now) {
    this.#places = new Places(orm, now)
  }

  /**
   * Evaluates an attempt if its allowances have a place for it, which is taken before the evaluation: guesses sent all
   * at once are no more than guesses sent one by one. Where the places are only taken, and not used up, it waits in line.
   *
   * @returns what `evaluate` returns; `undefined` is a failure, and counts
   * @throws {TryLater} 429, if an allowance is used up; 503, if too many wait already, or for too long
   */
  async attempt<Result>(
    attempt: Try,
    evaluate: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const rule = rules[attempt.action]
    const id = await this.#takePlace(attempt)
    let isFailure = rule.countsSuccess
    try {
      const result = await evaluate()
      isFailure ||= result === undefined
      return result
    } finally {
      // What could not be evaluated, because a database was away, was no guess.
      await this.#places.leave(id, { isFailure })
      this.#lines.tell()
    }
  }

  /** Forgets, in a batch of so many, what no allowance counts any more. Returns how many there were. */
  purge(most = 500): Promise<number> {
    return this.#places.purge(most)
  }

  // Who waits for a place of an account keeps nobody waiting who needs one of the network only: of each account, from one
  // network or device, the first in line stands in the network's line, and leaves it if it is the account that has none.
  async #takePlace(attempt: Try): Promise<string> {
    const { action, hasLeft = () => false } = attempt
    const { allowances, fromDevice } = rules[action]
    const key = keyOf(attempt)
    const wanted = { action, key, allowances: key.device === null ? allowances : fromDevice }
    const ofNetwork = wanted.allowances.filter(({ by }) => by.join() === 'network')
    const until = performance.now() + longestWait
    const tries = () => this.#try(wanted)
    const triesInTurn = async () => {
      const place = await this.#lines.enter(`${action} ${key.network}`, {
        tries: async () => {
          const id = await tries()
          const isNetworkFull = !id && (await this.#places.areTaken({ ...wanted, allowances: ofNetwork }))
          return isNetworkFull ? undefined : { id }
        },
        hasLeft,
        until,
      })
      return place.id
    }
    return this.#lines.enter(`${action} ${key.device ?? key.network} ${key.account}`, {
      tries: ofNetwork.length > 0 ? triesInTurn : tries,
      hasLeft,
      until,
    })
  }

  async #try(wanted: Wanted): Promise<string | undefined> {
    const id = await this.#places.take(wanted)
    const shortage = id === undefined ? await this.#places.shortage(wanted) : 0
    if (shortage > 0) throw tooMany(Math.ceil(shortage / 1000))
    return id
  }
}

/** Gives an account all of its allowances for an action back, because what there was to guess has changed. */
export async function forgetAttempts(
  em: EntityManager,
  { action, account }: Pick<Try, 'action' | 'account'>,
): Promise<void> {
  await em.nativeDelete(Attempt, { action, account: digestOf(account) })
}

function tooMany(seconds: number): TryLater {
  const minutes = Math.ceil(seconds / 60)
  const wait =
    minutes > 90 ? `${Math.ceil(minutes / 60)} hours` : minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new TryLater(429, `Too many attempts. Try again in ${wait}.`, seconds)
}
