import { hash } from 'node:crypto'
import type { MikroORM, Transaction } from '@mikro-orm/core'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { deleteBatch } from '../database/delete-batch.ts'
import { clockSkew } from '../database/future-time.ts'
import { isPostgres } from '../database/is-postgres.ts'
import type { Allowance, Outcome } from './allowance.ts'
import { AttemptCount, type CounterRow, type Quota, retryAfter, rowsOf, type Slice } from './counter-rows.ts'
import { TaskQueue } from './task-queue.ts'

/** The rows that count a reserved attempt, one for each allowance. */
export type Reservation = readonly CounterRow[]

/** Counts attempts in the database, so that processes share the counts and a restart keeps them. */
export class Counters {
  readonly #orm: MikroORM
  readonly #now: () => number
  readonly #reservations = new TaskQueue()

  constructor(orm: MikroORM, now: () => number) {
    this.#orm = orm
    this.#now = now
  }

  /** Reserves an attempt in every allowance. Returns `undefined` if one of them is used up. */
  reserve(quota: Quota): Promise<Reservation | undefined> {
    // Without the queue, attempts that wait for a lock of PostgreSQL could occupy every connection of the pool.
    return isPostgres(this.#orm.em)
      ? this.#reservations.run(() => this.#reserve(quota))
      : this.#reserve(quota)
  }

  async #reserve(quota: Quota): Promise<Reservation | undefined> {
    const now = this.#now()
    const rows = rowsOf(quota, now)
    const values = [
      ...rows.flatMap(({ id, counter, account, allowance: { within } }) => [
        ...[id, counter, account, now, now + within],
      ]),
      ...rows.flatMap(({ counter, allowance: { within, limit } }) => [
        ...[counter, now - within, now + clockSkew, limit],
      ]),
    ]
    const { affectedRows } = await this.#lock(rows, (transaction) =>
      this.#run(
        `insert into attempts (id, counter, account, at, expires_at, used, running)
         select * from (${rows.map(() => newRow).join(' union all ')}) as wanted
         where ${rows.map(() => isFree).join(' and ')}
         on conflict (id) do update
         set at = excluded.at, expires_at = excluded.expires_at, running = attempts.running + 1`,
        values,
        transaction,
      ),
    )
    return affectedRows > 0 ? rows : undefined
  }

  /** The allowance with the longest wait, and this wait in milliseconds. It is 0 if finished attempts use up no allowance. */
  async usedUp(quota: Quota): Promise<{ readonly allowance?: Allowance; readonly wait: number }> {
    const now = this.#now()
    const rows = rowsOf(quota, now)
    const found: Slice[] = await this.#connection.execute(
      `select counter, at, used, running from attempts where counter in (${rows.map(() => '?')}) and at <= ?
       order by at desc`,
      [...rows.map(({ counter }) => counter), now + clockSkew],
    )
    const waits = rows.map((row) => ({ allowance: row.allowance, wait: retryAfter(found, row, now) }))
    return waits.sort((one, other) => other.wait - one.wait)[0] ?? { wait: 0 }
  }

  /** Ends a reservation, and counts it in the allowances for this outcome. Counts nothing without an outcome. */
  async settle(rows: Reservation, outcome: Outcome | undefined): Promise<void> {
    const isUsed = ({ allowance }: CounterRow) => outcome !== undefined && allowance.counts.includes(outcome)
    const used = rows.filter(isUsed)
    const unused = rows.filter((row) => !isUsed(row))
    // A row without attempts expires, so that it is purged.
    const expiry = 'expires_at = case when used = 0 and running <= 1 then 0 else expires_at end'
    await this.#lock(rows, async (transaction) => {
      await this.#finish(used, 'used = used + 1', transaction)
      await this.#finish(unused, expiry, transaction)
    })
  }

  /** Deletes a batch of counts that have expired or are in the future. Returns their number. */
  purge(limit: number): Promise<number> {
    const now = this.#now()
    const where = { $or: [{ expiresAt: { $lte: now } }, { at: { $gt: now + clockSkew } }] }
    return deleteBatch(this.#orm.em.fork(), AttemptCount, { where, key: 'id' }, limit)
  }

  async #finish(rows: Reservation, change: string, transaction?: Transaction): Promise<void> {
    if (rows.length === 0) return
    await this.#run(
      `update attempts set running = case when running > 0 then running - 1 else 0 end, ${change}
       where id in (${rows.map(() => '?')})`,
      rows.map(({ id }) => id),
      transaction,
    )
  }

  // A write locks the whole SQLite database. On PostgreSQL, each counter has a lock, and the locks are taken in sorted order
  // to avoid deadlocks.
  #lock<Result>(rows: Reservation, work: (transaction?: Transaction) => Promise<Result>): Promise<Result> {
    if (!isPostgres(this.#orm.em)) return work()
    const locks = rows.map(({ counter }) => hash('sha256', counter, 'buffer').readBigInt64BE()).sort()
    return this.#connection.transactional(async (transaction) => {
      await this.#run(`select ${locks.map((lock) => `pg_advisory_xact_lock(${lock})`)}`, [], transaction)
      return work(transaction)
    })
  }

  #run(sql: string, values: unknown[], transaction?: Transaction): Promise<{ affectedRows: number }> {
    return this.#connection.execute(sql, values, 'run', transaction)
  }

  get #connection(): AbstractSqlConnection {
    // Both drivers of the site are SQL drivers.
    return this.#orm.em.getConnection() as AbstractSqlConnection
  }
}

const newRow = `select cast(? as text) as id, cast(? as text) as counter, cast(? as text) as account,
  cast(? as bigint) as at, cast(? as bigint) as expires_at, 0 as used, 1 as running`

const isFree = `(select coalesce(sum(counted.used + counted.running), 0) from attempts as counted
  where counted.counter = ? and counted.at > ? and counted.at <= ?) < ?`
