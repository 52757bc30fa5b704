import type { EntityManager, MikroORM } from '@mikro-orm/core'
import { TryLater } from '../refusal.ts'
import { type Action, rules } from './allowance.ts'
import { Attempt } from './attempt.ts'
import { digestOf, keyOf } from './key.ts'
import { Places } from './places.ts'
import { WaitingLines } from './waiting-lines.ts'

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
   * @throws {TryLater} 429, if an allowance is used up; 503, if too many wait already
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

  #takePlace(attempt: Try): Promise<string> {
    const { action, hasLeft = () => false } = attempt
    const { allowances, fromDevice } = rules[action]
    const key = keyOf(attempt)
    const wanted = { action, key, allowances: key.device === null ? allowances : fromDevice }
    const tries = async () => {
      const id = await this.#places.take(wanted)
      const shortage = id === undefined ? await this.#places.shortage(wanted) : 0
      if (shortage > 0) throw tooMany(Math.ceil(shortage / 1000))
      return id
    }
    return this.#lines.enter(`${action} ${key.device ?? key.network}`, { tries, hasLeft })
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
