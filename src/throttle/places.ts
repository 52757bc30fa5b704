import { hash } from 'node:crypto'
import type { MikroORM, Transaction } from '@mikro-orm/core'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { v7 as uuidv7 } from 'uuid'
import { deleteBatch } from '../database/delete-batch.ts'
import { isPostgres } from '../database/is-postgres.ts'
import { type Action, type Allowance, day } from './allowance.ts'
import { Attempt } from './attempt.ts'
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

  /** Takes a place in all of the allowances, so that no other comes between counting and taking. */
  async take(wanted: Wanted): Promise<string | undefined> {
    const { action, key, allowances } = wanted
    const id = uuidv7()
    const now = this.#now()
    const conditions = allowances.map((allowance) => where(action, key, allowance, now))
    const free = conditions.map(
      ({ sql }, i) => `(select count(*) from attempts where ${sql}) < ${allowances[i]?.most}`,
    )
    const { affectedRows } = await this.#alone(wanted, (transaction) =>
      this.#run(
        `insert into attempts (id, action, account, network, device, at, pending)
         select ?, ?, ?, ?, ?, ?, true where ${free.join(' and ')}`,
        [
          id,
          action,
          key.account,
          key.network,
          key.device,
          now,
          ...conditions.flatMap(({ values }) => values),
        ],
        transaction,
      ),
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
          `select at from attempts where ${sql} and (not pending or at < ?) order by at desc limit 1 offset ?`,
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
      isFailure ? 'update attempts set pending = false where id = ?' : 'delete from attempts where id = ?',
      [id],
    )
  }

  /** Forgets, in a batch of so many, what no allowance counts any more. Returns how many there were. */
  purge(most: number): Promise<number> {
    const where = { at: { $lt: this.#now() - day } }
    return deleteBatch(this.#orm.em.fork(), Attempt, { where, key: 'id' }, most)
  }

  // With SQLite a statement has the database to itself. With PostgreSQL two would count at the same time: whoever counts
  // the same waits for the other, each for its locks in the same order, and counts what has been committed by then.
  #alone<Result>(
    { action, key, allowances }: Wanted,
    work: (transaction?: Transaction) => Promise<Result>,
  ): Promise<Result> {
    if (!isPostgres(this.#orm.em)) return work()
    const counted = new Set(allowances.map(({ by: [column] }) => column))
    const locks = [...counted].map((column) => lockOf(`${action} ${column} ${column && key[column]}`)).sort()
    return this.#connection.transactional(async (transaction) => {
      await this.#run(`select ${locks.map((lock) => `pg_advisory_xact_lock(${lock})`)}`, [], transaction)
      return work(transaction)
    })
  }

  #run(sql: string, values: unknown[], transaction?: Transaction): Promise<{ affectedRows: number }> {
    return this.#connection.execute(sql, values, 'run', transaction)
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

/** The number by which PostgreSQL knows a lock. */
function lockOf(name: string): bigint {
  return hash('sha256', name, 'buffer').readBigInt64BE()
}
