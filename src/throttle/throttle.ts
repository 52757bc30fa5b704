import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { v7 as uuidv7 } from 'uuid'
import { TryLater } from '../refusal.ts'
import { Attempt } from './attempt.ts'
import { networkOf } from './network.ts'

const minute = 60_000
const quarter = 15 * minute
const day = 24 * 60 * minute

/** What is attempted, and by whom: the parts that the allowances are counted by. */
export interface Try {
  readonly action: 'password' | 'sign-up' | 'token'
  /** Whom it is about: an account that exists or not, alike. */
  readonly account: string
  /** The address that it comes from. */
  readonly address: string
  /** A device that this account has signed in from before. It has an allowance of its own, which strangers cannot use up. */
  readonly device?: string | undefined
}

/** So many in so many milliseconds, counted by these columns. */
interface Allowance {
  readonly by: readonly Column[]
  readonly most: number
  readonly within: number
}

type Column = 'account' | 'network' | 'device'
type Key = Record<Column, string | null>

interface Rule {
  readonly allowances: readonly Allowance[]
  /** Where somebody comes from a device that the account knows. */
  readonly fromDevice: readonly Allowance[]
  /** Whether what succeeded counts too. */
  readonly countsSuccess: boolean
}

const rules: Record<Try['action'], Rule> = {
  password: {
    allowances: [
      { by: ['account', 'network'], most: 10, within: quarter },
      { by: ['network'], most: 50, within: quarter },
      { by: ['account'], most: 100, within: day },
    ],
    fromDevice: [
      { by: ['account', 'device'], most: 10, within: quarter },
      { by: ['account', 'device'], most: 100, within: day },
    ],
    countsSuccess: false,
  },
  'sign-up': {
    allowances: [{ by: ['network'], most: 50, within: quarter }],
    fromDevice: [],
    countsSuccess: true,
  },
  token: {
    allowances: [{ by: ['account'], most: 100, within: quarter }],
    fromDevice: [],
    countsSuccess: true,
  },
}

// How long an evaluation may take: one that takes longer, or whose process died, counts as failed.
const evaluation = 30_000

/**
 * Allowances for what people may guess at, counted in the application's database, so that all its processes share them
 * and a restart gives nobody a fresh one. Knows nothing of users: an account is any text.
 */
export class Throttle {
  readonly #orm: MikroORM
  readonly #now: () => number
  #released = Promise.withResolvers<void>()

  constructor(orm: MikroORM, now = Date.now) {
    this.#orm = orm
    this.#now = now
  }

  /**
   * Evaluates an attempt if its allowances have a place for it, which is taken before the evaluation: guesses sent all
   * at once are no more than guesses sent one by one. Where the places are only taken, and not used up, it waits.
   *
   * @returns what `evaluate` returns; `undefined` is a failure, and counts
   * @throws {TryLater} 429, if an allowance is used up
   */
  async attempt<Result>(
    attempt: Try,
    evaluate: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const rule = rules[attempt.action]
    const key = keyOf(attempt)
    const id = await this.#takePlace(attempt.action, key, rule)
    let isFailure = rule.countsSuccess
    try {
      const result = await evaluate()
      isFailure ||= result === undefined
      return result
    } finally {
      // What could not be evaluated, because a database was away, was no guess.
      await this.#leavePlace(id, isFailure)
      this.#released.resolve()
      this.#released = Promise.withResolvers()
    }
  }

  /** Forgets, in a batch of so many, what no allowance counts any more. Returns how many there were. */
  async purge(most = 500): Promise<number> {
    const { affectedRows } = await this.#run(
      'delete from attempts where id in (select id from attempts where at < ? limit ?)',
      [this.#now() - day, most],
    )
    return affectedRows
  }

  async #takePlace(action: string, key: Key, { allowances, fromDevice }: Rule): Promise<string> {
    const counted = key.device === null ? allowances : fromDevice
    for (;;) {
      const id = uuidv7()
      const now = this.#now()
      if (await this.#insert(id, action, key, counted, now)) return id
      await this.#refuseIfUsedUp(action, key, counted, now)
      // Another process may have the places, so this does not wait for our own alone.
      await Promise.race([this.#released.promise, sleep(250, undefined, { ref: false })])
    }
  }

  /** One statement, so that no other can come between counting and taking. */
  async #insert(
    id: string,
    action: string,
    key: Key,
    counted: readonly Allowance[],
    now: number,
  ): Promise<boolean> {
    const conditions = counted.map((allowance) => where(action, key, allowance, now))
    const { affectedRows } = await this.#run(
      `insert into attempts (id, action, account, network, device, at, pending)
       select ?, ?, ?, ?, ?, ?, ? where ${counted.map((allowance, i) => `(select count(*) from attempts where ${conditions[i]?.sql}) < ${allowance.most}`).join(' and ')}`,
      [
        id,
        action,
        key.account,
        key.network,
        key.device,
        now,
        1,
        ...conditions.flatMap(({ values }) => values),
      ],
    )
    return affectedRows === 1
  }

  async #refuseIfUsedUp(action: string, key: Key, counted: readonly Allowance[], now: number): Promise<void> {
    const waits = await Promise.all(
      counted.map(async (allowance) => {
        const { sql, values } = where(action, key, allowance, now)
        // The one that has to grow too old before there is a place again.
        const [row] = await this.#connection.execute<{ at: number }[]>(
          `select at from attempts where ${sql} and (pending = 0 or at < ?) order by at desc limit 1 offset ?`,
          [...values, now - evaluation, allowance.most - 1],
        )
        return row ? Number(row.at) + allowance.within - now : 0
      }),
    )
    const wait = Math.max(...waits)
    if (wait > 0) throw tooMany(Math.ceil(wait / 1000))
  }

  async #leavePlace(id: string, isFailure: boolean): Promise<void> {
    await this.#run(
      isFailure ? 'update attempts set pending = 0 where id = ?' : 'delete from attempts where id = ?',
      [id],
    )
  }

  #run(sql: string, values: unknown[]): Promise<{ affectedRows: number }> {
    return this.#connection.execute(sql, values, 'run')
  }

  get #connection(): AbstractSqlConnection {
    // Both drivers that the site runs on speak SQL.
    return this.#orm.em.getConnection() as AbstractSqlConnection
  }
}

/** Gives an account all of its allowances for an action back, because what there was to guess has changed. */
export async function forgetAttempts(
  em: EntityManager,
  { action, account }: Pick<Try, 'action' | 'account'>,
): Promise<void> {
  await em.nativeDelete(Attempt, { action, account: digestOf(account) })
}

function keyOf({ account, address, device }: Try): Key {
  return {
    account: digestOf(account),
    network: digestOf(networkOf(address)),
    device: device === undefined ? null : digestOf(device),
  }
}

function digestOf(part: string): string {
  return hash('sha256', part, 'base64url')
}

function where(action: string, key: Key, { by, within }: Allowance, now: number) {
  const columns = by.map((column) => `${column} = ?`)
  // A device that the account knows has an allowance of its own, and uses up no other.
  if (!by.includes('device')) columns.push('device is null')
  return {
    sql: ['action = ?', 'at > ?', ...columns].join(' and '),
    values: [action, now - within, ...by.map((column) => key[column])],
  }
}

function tooMany(seconds: number): TryLater {
  const minutes = Math.ceil(seconds / 60)
  const wait =
    minutes > 90 ? `${Math.ceil(minutes / 60)} hours` : minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new TryLater(429, `Too many attempts. Try again in ${wait}.`, seconds)
}
