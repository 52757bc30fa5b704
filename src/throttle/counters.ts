import { hash } from 'node:crypto'
import type { EntityManager, MikroORM, Transaction } from '@mikro-orm/core'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { deleteBatch } from '../database/delete-batch.ts'
import { clockSkew } from '../database/future-time.ts'
import { isPostgres } from '../database/is-postgres.ts'
import type { Outcome } from './allowance.ts'
import { AttemptCount } from './attempt-count.ts'
import { type CounterRow, type Place, rowsOf, type Slice, type Wanted, waitFor } from './counter-rows.ts'
import { TaskQueue } from './task-queue.ts'

/** Counts attempts in the database, so that processes share the counts and a restart keeps them. */
export class Counters {
  readonly #orm: MikroORM
  readonly #now: () => number
  readonly #takes = new TaskQueue()

  constructor(orm: MikroORM, now: () => number) {
    this.#orm = orm
    this.#now = now
  }

  /** Takes a place in all of the allowances. Returns `undefined` if one of them is full. */
  take(wanted: Wanted): Promise<Place | undefined> {
    // With PostgreSQL a flood of attempts would wait for their locks on every connection of the pool.
    return isPostgres(this.#orm.em) ? this.#takes.run(() => this.#take(wanted)) : this.#take(wanted)
  }

  async #take(wanted: Wanted): Promise<Place | undefined> {
    const now = this.#now()
    const rows = rowsOf(wanted, now)
    const { affectedRows } = await this.#lock(rows, (transaction) =>
      this.#run(
        `insert into attempts (id, counter, account, at, expires_at, used, running)
         select * from (${rows.map(() => wantedRow).join(' union all ')}) as wanted
         where ${rows.map(() => hasPlace).join(' and ')}
         on conflict (id) do update
         set at = excluded.at, expires_at = excluded.expires_at, running = attempts.running + 1`,
        [
          ...rows.flatMap(({ id, counter, account, allowance: { within } }) => [
            ...[id, counter, account, now, now + within],
          ]),
          ...rows.flatMap(({ counter, allowance: { within, most } }) => [
            ...[counter, now - within, now + clockSkew, most],
          ]),
        ],
        transaction,
      ),
    )
    return affectedRows > 0 ? rows : undefined
  }

  /** How many milliseconds an allowance stays used up; 0 if only running evaluations are in the way. */
  async shortage(wanted: Wanted): Promise<number> {
    const now = this.#now()
    const rows = rowsOf(wanted, now)
    const found: Slice[] = await this.#connection.execute(
      `select counter, at, used, running from attempts where counter in (${rows.map(() => '?')}) and at <= ?
       order by at desc`,
      [...rows.map(({ counter }) => counter), now + clockSkew],
    )
    const waits = rows.map(({ counter, allowance }) => {
      const own = found.filter(
        (slice) => slice.counter === counter && Number(slice.at) > now - allowance.within,
      )
      return waitFor(own, allowance, now)
    })
    return Math.max(...waits)
  }

  /** Leaves a place: used where the outcome counts, else as if it had never been taken. */
  async leave(place: Place, outcome: Outcome | undefined): Promise<void> {
    const isUsed = ({ allowance }: CounterRow) => outcome !== undefined && allowance.counts.includes(outcome)
    const used = place.filter(isUsed)
    const free = place.filter((row) => !isUsed(row))
    await this.#lock(place, async (transaction) => {
      await this.#finish(used, 'used = used + 1', transaction)
      // A row without attempts is purged.
      await this.#finish(
        free,
        'expires_at = case when used = 0 and running <= 1 then 0 else expires_at end',
        transaction,
      )
    })
  }

  /** Deletes a batch of counts that are over. Returns how many there were. */
  purge(most: number): Promise<number> {
    const now = this.#now()
    const where = { $or: [{ expiresAt: { $lte: now } }, { at: { $gt: now + clockSkew } }] }
    return deleteBatch(this.#orm.em.fork(), AttemptCount, { where, key: 'id' }, most)
  }

  async #finish(rows: Place, change: string, transaction?: Transaction): Promise<void> {
    if (rows.length === 0) return
    await this.#run(
      `update attempts set running = case when running > 0 then running - 1 else 0 end, ${change}
       where id in (${rows.map(() => '?')})`,
      rows.map(({ id }) => id),
      transaction,
    )
  }

  // With SQLite a statement has the database to itself. PostgreSQL takes a lock for each counter, always in the same order.
  #lock<Result>(rows: Place, work: (transaction?: Transaction) => Promise<Result>): Promise<Result> {
    if (!isPostgres(this.#orm.em)) return work()
    const locks = rows.map(({ counter }) => lockOf(counter)).sort()
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

/** Deletes the counts of an account: those by account alone, and those by account and network or device. */
export async function deleteCounts(em: EntityManager, wanted: Wanted): Promise<void> {
  const counters = rowsOf(wanted, 0).map(({ counter }) => counter)
  await em.nativeDelete(AttemptCount, {
    $or: [{ account: wanted.key.account }, { counter: { $in: counters } }],
  })
}

const wantedRow = `select cast(? as text) as id, cast(? as text) as counter, cast(? as text) as account,
  cast(? as bigint) as at, cast(? as bigint) as expires_at, 0 as used, 1 as running`

const hasPlace = `(select coalesce(sum(counted.used + counted.running), 0) from attempts as counted
  where counted.counter = ? and counted.at > ? and counted.at <= ?) < ?`

/** The number of an advisory lock of PostgreSQL. */
function lockOf(counter: string): bigint {
  return hash('sha256', counter, 'buffer').readBigInt64BE()
}
