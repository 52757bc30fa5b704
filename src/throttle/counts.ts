import { hash } from 'node:crypto'
import type { MikroORM, Transaction } from '@mikro-orm/core'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { isPostgres } from '../database/is-postgres.ts'
import type { Outcome } from './allowance.ts'
import type { AttemptCount } from './attempt-count.ts'
import { type Counter, refusalOf } from './counter.ts'

type Counters = readonly Counter[]

/** Reserves an attempt in every counter. Otherwise, counts nothing, and returns the used-up allowance with the longest wait. */
export function reserve(orm: MikroORM, counters: Counters, now: number, outer?: Transaction) {
  return lock(orm, counters, outer, async (transaction) => {
    const ids = counters.flatMap(({ ids }) => ids)
    const select = `select id, expires_at as "expiresAt", used, running from attempts where id in (${placeholders(ids)})`
    const found: AttemptCount[] = await connectionOf(orm).execute(select, ids, 'all', transaction)
    // PostgreSQL's driver returns a `bigint` as a string.
    const rows = found.map((row) => ({ ...row, expiresAt: Number(row.expiresAt) }))
    const refused = counters.flatMap((counter) => refusalOf(counter, rows, now) ?? [])
    if (refused.length > 0) return refused.sort((one, other) => other.wait - one.wait)[0]
    await connectionOf(orm).execute(
      `insert into attempts (id, expires_at, used, running) values ${counters.map(() => '(?, ?, 0, 1)').join()}
       on conflict (id) do update set expires_at = excluded.expires_at, running = attempts.running + 1`,
      counters.flatMap(({ id, allowance }) => [id, now + allowance.within]),
      'run',
      transaction,
    )
    return undefined
  })
}

/** Ends a reservation, and counts it in the allowances for this outcome. Counts nothing without an outcome. */
export function settle(
  orm: MikroORM,
  counters: Counters,
  outcome: Outcome | undefined,
  outer?: Transaction,
): Promise<void> {
  const isCounted = ({ allowance }: Counter) => outcome !== undefined && allowance.counts.includes(outcome)
  return lock(orm, counters, outer, async (transaction) => {
    const ids = counters.map(({ id }) => id)
    // A list in SQL cannot be empty, and no counter is named ''.
    const counted = ['', ...counters.filter(isCounted).map(({ id }) => id)]
    const isCountedRow = `id in (${placeholders(counted)})`
    // A row without attempts expires, so that it is purged.
    await connectionOf(orm).execute(
      `update attempts set running = case when running > 0 then running - 1 else 0 end,
       used = case when ${isCountedRow} then used + 1 else used end,
       expires_at = case when ${isCountedRow} or used > 0 or running > 1 then expires_at else 0 end
       where id in (${placeholders(ids)})`,
      [...counted, ...counted, ...ids],
      'run',
      transaction,
    )
  })
}

// A transaction locks the whole SQLite database. On PostgreSQL, each counter has a lock, and the locks are taken in sorted order
// to avoid deadlocks.
function lock<Result>(
  orm: MikroORM,
  counters: Counters,
  outer: Transaction | undefined,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const lockAndWork = async (transaction: Transaction) => {
    if (isPostgres(orm.em)) await connectionOf(orm).execute(locksOf(counters), [], 'run', transaction)
    return work(transaction)
  }
  return outer ? lockAndWork(outer) : connectionOf(orm).transactional(lockAndWork)
}

function locksOf(counters: Counters): string {
  const names = counters.flatMap(({ names }) => names)
  const locks = names.map((name) => hash('sha256', name, 'buffer').readBigInt64BE()).sort()
  return `select ${locks.map((each) => `pg_advisory_xact_lock(${each})`)}`
}

function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join()
}

function connectionOf(orm: MikroORM): AbstractSqlConnection {
  // Both drivers of the site are SQL drivers.
  return orm.em.getConnection() as AbstractSqlConnection
}
