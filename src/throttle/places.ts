import type { MikroORM } from '@mikro-orm/core'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { v7 as uuidv7 } from 'uuid'
import { type Action, type Allowance, day } from './allowance.ts'
import type { Key } from './key.ts'

// How long an evaluation may take: one that takes longer, or whose process died, counts as failed.
const evaluation = 30_000

/** What an attempt needs a place in. */
export interface Wanted {
  readonly action: Action
  readonly key: Key
  readonly allowances: readonly Allowance[]
}

/** The places of the allowances: a row for each that is taken, which counts until it is left or too old. */
export class Places {
  readonly #orm: MikroORM
  readonly #now: () => number

  constructor(orm: MikroORM, now: () => number) {
    this.#orm = orm
    this.#now = now
  }

  /** Takes a place in all of the allowances: in one statement, so that no other comes between counting and taking. */
  async take({ action, key, allowances }: Wanted): Promise<string | undefined> {
    const id = uuidv7()
    const now = this.#now()
    const conditions = allowances.map((allowance) => where(action, key, allowance, now))
    const free = conditions.map(
      ({ sql }, i) => `(select count(*) from attempts where ${sql}) < ${allowances[i]?.most}`,
    )
    const { affectedRows } = await this.#run(
      `insert into attempts (id, action, account, network, device, at, pending)
       select ?, ?, ?, ?, ?, ?, ? where ${free.join(' and ')}`,
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
    return affectedRows === 1 ? id : undefined
  }

  /** For how many milliseconds there is none, whatever becomes of those that are being evaluated: 0 if that decides. */
  async shortage({ action, key, allowances }: Wanted): Promise<number> {
    const now = this.#now()
    const waits = await Promise.all(
      allowances.map(async (allowance) => {
        const { sql, values } = where(action, key, allowance, now)
        // The one that has to grow too old before there is a place again.
        const [row] = await this.#connection.execute<{ at: number }[]>(
          `select at from attempts where ${sql} and (pending = 0 or at < ?) order by at desc limit 1 offset ?`,
          [...values, now - evaluation, allowance.most - 1],
        )
        return row ? Number(row.at) + allowance.within - now : 0
      }),
    )
    return Math.max(...waits)
  }

  /** Whether any of the allowances has no place, those that are being evaluated among those taken. */
  async areTaken({ action, key, allowances }: Wanted): Promise<boolean> {
    const now = this.#now()
    const taken = await Promise.all(
      allowances.map(async (allowance) => {
        const { sql, values } = where(action, key, allowance, now)
        const [row] = await this.#connection.execute<{ n: number }[]>(
          `select count(*) as n from attempts where ${sql}`,
          values,
        )
        return Number(row?.n) >= allowance.most
      }),
    )
    return taken.includes(true)
  }

  /** Leaves a place: used up by a failure, or as if it had never been taken. */
  async leave(id: string, { isFailure }: { isFailure: boolean }): Promise<void> {
    await this.#run(
      isFailure ? 'update attempts set pending = 0 where id = ?' : 'delete from attempts where id = ?',
      [id],
    )
  }

  /** Forgets, in a batch of so many, what no allowance counts any more. Returns how many there were. */
  async purge(most: number): Promise<number> {
    const { affectedRows } = await this.#run(
      'delete from attempts where id in (select id from attempts where at < ? limit ?)',
      [this.#now() - day, most],
    )
    return affectedRows
  }

  #run(sql: string, values: unknown[]): Promise<{ affectedRows: number }> {
    return this.#connection.execute(sql, values, 'run')
  }

  get #connection(): AbstractSqlConnection {
    // Both drivers that the site runs on speak SQL.
    return this.#orm.em.getConnection() as AbstractSqlConnection
  }
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
